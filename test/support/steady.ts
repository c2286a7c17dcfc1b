import type { NodeOptions } from '@skillstead/server'

/** Options of a node that never counts as overloaded: the event loop of a test run is also busy with the tests. */
export const steady: Pick<NodeOptions, 'rates' | 'queueDelayMs'> = { rates: 'off', queueDelayMs: () => 0 }
