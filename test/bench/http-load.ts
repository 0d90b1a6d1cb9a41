import { Agent, request as httpRequest } from 'node:http';
import type { Submission } from '@placet/protocol';
import { throughput } from './measure.ts';
import { inFlight, submissionOf, team } from './workload.ts';

/** What one round over HTTP says: submissions with their decision, a second. */
export interface HttpRound {
  http: number;
}

/** PF-2 over HTTP: this process makes the load, the lead service is another, Redis a third. */
async function main(): Promise<void> {
  const [url = '', leadToken = '', teammateToken = '', count = '2000', rounds = '3'] = process.argv.slice(2);
  const agent = new Agent({ keepAlive: true, maxSockets: inFlight });
  const post = (path: string, token: string, body: unknown) =>
    send({ agent, url: new URL(path, url), token, body });
  const submitAndDecide = async (submission: Submission): Promise<void> => {
    const at = `/v1/teams/${team}/requests`;
    await post(at, teammateToken, submission);
    await post(`${at}/${encodeURIComponent(submission.requestId)}/decision`, leadToken, {
      outcome: 'approved',
      planDigest: submission.planDigest,
      permissionMode: 'acceptEdits',
    });
  };
  await throughput(Number(count) / 4, inFlight, (index) => submitAndDecide(submissionOf(index)));
  for (let round = 0; round < Number(rounds); round += 1) {
    const submissions = Array.from({ length: Number(count) }, (_, index) => submissionOf(index));
    const http = await throughput(Number(count), inFlight, async (index) => {
      const submission = submissions[index];
      if (submission) await submitAndDecide(submission);
    });
    const result: HttpRound = { http };
    console.log(JSON.stringify(result));
  }
  agent.destroy();
}

interface Sending {
  agent: Agent;
  url: URL;
  token: string;
  body: unknown;
}

/** Node's own client: the load must not cost more than what it measures. */
function send({ agent, url, token, body }: Sending): Promise<void> {
  const payload = JSON.stringify(body);
  const headers = {
    authorization: `Bearer ${token}`,
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(payload),
  };
  return new Promise((resolve, reject) => {
    const sent = httpRequest(url, { agent, method: 'POST', headers }, (response) => {
      const status = response.statusCode ?? 0;
      response.resume();
      response.on('end', () => {
        if (status === 200 || status === 201) resolve();
        else reject(new Error(`${url.pathname} answered ${status}`));
      });
    });
    sent.on('error', reject);
    sent.end(payload);
  });
}

await main();
