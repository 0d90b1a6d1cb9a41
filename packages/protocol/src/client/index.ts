export {
  type CallAnswer,
  type CallInput,
  type CallOutput,
  type ClientOptions,
  PlacetClient,
} from './placet-client.ts';
export { readServerSentEvents, type ServerSentEvent } from './sse.ts';
