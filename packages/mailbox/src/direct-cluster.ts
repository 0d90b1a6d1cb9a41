import { Cluster } from 'ioredis';

/**
 * A Cluster whose commands fail at once while it is away, instead of waiting for it, and which never asks a replica: with
 * no master known, ioredis would take any node.
 */
export class DirectCluster extends Cluster {
  override sendCommand(...[command, stream, node]: Parameters<Cluster['sendCommand']>): unknown {
    const isOwn = command.name === 'cluster'; // how a Cluster finds out whether it works
    if (isOwn || (this.status === 'ready' && this.nodes('master').length > 0))
      return super.sendCommand(command, stream, node);
    command.reject(new Error('no master of the Cluster can be reached'));
    return command.promise;
  }

  /** Transactions and pipelines ask for this before the nodes were ever looked up. */
  override delayUntilReady(callback: Parameters<Cluster['delayUntilReady']>[0]): void {
    callback(new Error('the Cluster was not reached yet'));
  }
}
