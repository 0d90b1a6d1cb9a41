import { Counter, Gauge, Histogram, Registry } from 'prom-client';

/** The Prometheus metrics of a lead service (OP-5), in a registry of their own. */
export class LeadMetrics {
  readonly registry = new Registry();

  /** Requests by what became of them in this process: `submitted`, and each outcome. */
  readonly requests = this.#counter('placet_requests_total', 'Requests by what this process made of them', [
    'outcome',
  ]);
  readonly decisionSeconds = this.#histogram(
    'placet_decision_seconds',
    'From submission to decision, in seconds',
    [],
    [0.01, 0.1, 1, 10, 60, 600, 3600, 21_600, 86_400],
  );
  readonly answerSeconds = this.#histogram(
    'placet_answer_seconds',
    'From question to answer, in seconds',
    [],
    [0.01, 0.1, 1, 10, 60, 600, 3600, 21_600, 86_400],
  );
  readonly httpSeconds = this.#histogram(
    'placet_http_request_seconds',
    'HTTP answers, in seconds',
    ['route', 'method', 'status'],
    [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10, 60],
  );
  readonly refusals = this.#counter('placet_refusals_total', 'Refused calls by error code', ['code']);
  readonly storeErrors = this.#counter(
    'placet_store_errors_total',
    'Calls that the store did not answer in time',
    [],
  );
  readonly alarms = this.#counter('placet_alarms_total', 'What a lead must look at, by code', ['code']);
  readonly duties = this.#counter('placet_duty_runs_total', 'Runs of background duties by result', [
    'duty',
    'result',
  ]);
  readonly inboxDepth = this.#gauge('placet_inbox_depth', 'Pending requests in the inbox of the lead', [
    'team',
  ]);
  readonly inboxAgeSeconds = this.#gauge(
    'placet_inbox_oldest_seconds',
    'Age of the oldest pending request, in seconds',
    ['team'],
  );
  readonly openQuestions = this.#gauge('placet_open_questions', 'Questions that wait for an answer', [
    'team',
  ]);
  readonly streams = this.#gauge('placet_open_streams', 'Event streams and waits that are open', ['kind']);

  #counter<Label extends string>(name: string, help: string, labelNames: Label[]): Counter<Label> {
    return new Counter({ name, help, labelNames, registers: [this.registry] });
  }

  #gauge<Label extends string>(name: string, help: string, labelNames: Label[]): Gauge<Label> {
    return new Gauge({ name, help, labelNames, registers: [this.registry] });
  }

  #histogram<Label extends string>(
    name: string,
    help: string,
    labelNames: Label[],
    buckets: number[],
  ): Histogram<Label> {
    return new Histogram({ name, help, labelNames, buckets, registers: [this.registry] });
  }
}
