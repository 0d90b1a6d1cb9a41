/** The packages and which of ours each may import; no arrow runs any other way. */
export const arrows: Readonly<Record<string, readonly string[]>> = {
  protocol: [],
  'plan-mode': ['protocol'],
  mailbox: ['protocol'],
  teammate: ['protocol', 'plan-mode', 'mailbox'],
  lead: ['protocol', 'mailbox'],
  poller: ['protocol', 'mailbox'],
  adapters: ['protocol', 'plan-mode', 'teammate'],
  cli: ['protocol', 'plan-mode', 'mailbox', 'teammate', 'lead', 'poller', 'adapters'],
};

/** The web page is a folder of the lead service, and knows only what is said. */
export const consoleFolder = 'packages/lead/console/';
export const consoleArrows: readonly string[] = ['protocol'];

/** Libraries that only some packages may import. One that is not here is free to any package that declares it. */
export const libraryHomes: Readonly<Record<string, readonly string[]>> = {
  ioredis: ['mailbox', 'teammate', 'lead', 'poller', 'cli'],
  bullmq: ['mailbox', 'teammate', 'lead', 'poller', 'cli'],
  pino: ['teammate', 'lead', 'poller', 'cli'],
  fastify: ['lead'],
  'prom-client': ['teammate', 'lead', 'poller'],
  commander: ['cli'],
  undici: ['poller'],
};

/** Runs in a browser: these and nothing of Node. */
export const protocolLibraries: readonly string[] = ['zod', '@noble/hashes', 'uuidv7', 'eventsource-parser'];

/** What would give plan mode a network. */
export const networkModules: readonly string[] = [
  'node:net',
  'node:http',
  'node:https',
  'node:http2',
  'node:tls',
  'node:dgram',
  'node:dns',
];

/** What tests beside the sources may import besides what their package declares. */
export const testLibraries: readonly string[] = ['vitest', 'fast-check'];

/** The folder has these files, these folders, and dot files; nothing else. */
export const topLevel: readonly string[] = [
  'CHANGELOG.md',
  'CONTRIBUTING.md',
  'LICENSE',
  'README.md',
  'SECURITY.md',
  'biome.json',
  'docker-compose.yml',
  'docs',
  'knip.json',
  'package-lock.json',
  'package.json',
  'packages',
  'test',
  'tsconfig.base.json',
  'tsconfig.json',
  'turbo.json',
  'vitest.config.ts',
];

/** One library for each of these jobs, and who must declare it. */
export const chosenLibraries: readonly (readonly [library: string, packageFiles: readonly string[]])[] = [
  ['ioredis', ['packages/mailbox/package.json']],
  ['bullmq', ['packages/mailbox/package.json', 'packages/teammate/package.json']],
  ['pino', ['packages/teammate/package.json', 'packages/lead/package.json']],
  ['vitest', ['package.json', 'test/package.json']],
];

/** Other libraries for the same jobs. */
export const rivalLibraries: readonly string[] = [
  ['redis', '@redis/client', 'valkey', '@valkey/valkey-glide', 'iovalkey', 'keyv'],
  ['bull', 'bee-queue', 'agenda', 'pg-boss', 'graphile-worker', 'amqplib', 'kafkajs'],
  ['jest', '@jest/globals', 'mocha', 'jasmine', 'ava', 'tap', 'uvu'],
  ['winston', 'bunyan', 'log4js', 'loglevel', 'consola', 'signale'],
].flat();
