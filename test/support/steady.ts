import type { ListenOptions } from '@skillstead/server'

/** Options of a node, with the delay that a test sets. */
export type TestListenOptions = ListenOptions & { readonly queueDelayMs?: () => number }

/** Options of a node that never counts as overloaded: the event loop of a test run is also busy with the tests. */
export const steady: Pick<TestListenOptions, 'rates' | 'queueDelayMs'> = { rates: 'off', queueDelayMs: () => 0 }
