import { Agent, request } from 'node:http';

/** An answer of a service; `text` is its whole body. */
export interface HttpAnswer {
  status: number;
  text: string;
}

/** Calls services over connections that are kept; for many calls at once. */
export class HttpCaller {
  readonly #agent: Agent;

  constructor(maxConnections: number) {
    this.#agent = new Agent({ keepAlive: true, maxSockets: maxConnections });
  }

  post(url: string, { token, body }: { token: string; body: unknown }): Promise<HttpAnswer> {
    return this.#send('POST', url, token, JSON.stringify(body));
  }

  get(url: string, { token }: { token: string }): Promise<HttpAnswer> {
    return this.#send('GET', url, token, undefined);
  }

  close(): void {
    this.#agent.destroy();
  }

  #send(method: string, url: string, token: string, body: string | undefined): Promise<HttpAnswer> {
    return new Promise((resolve, reject) => {
      const headers = {
        authorization: `Bearer ${token}`,
        ...(body !== undefined && {
          'content-type': 'application/json',
          'content-length': Buffer.byteLength(body),
        }),
      };
      const call = request(url, { method, agent: this.#agent, headers }, (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('error', reject);
        response.on('end', () =>
          resolve({ status: response.statusCode ?? 0, text: Buffer.concat(chunks).toString() }),
        );
      });
      call.on('error', reject);
      call.end(body);
    });
  }
}
