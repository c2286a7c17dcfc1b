import { openFalseNode, type FalseNode } from './false-node.ts'
import { startMs } from './harness.ts'
import { describeMirrors, openTestMirror, type OpenTestMirror, type TestMirror } from './mirror-acts.ts'

/** A mirror and its malicious upstream node. */
export interface Pair extends TestMirror {
  readonly node: FalseNode
  /** The reason code for which the mirror is paused. */
  alarm(): Promise<string | undefined>
  /** The full names of the skills that the mirror serves. */
  served(): Promise<string[]>
}

/** Makes a mirror of a malicious node with three skills, synced already if requested. */
export async function openPair({ synced = true, key = false, open = openTestMirror } = {}): Promise<Pair> {
  const node = await openFalseNode(startMs)
  const test = await open()
  for (const name of ['alice/pdf', 'alice/tea', 'bob/notes']) node.publish(name)
  await test.mirror.add('main', node.url, { everySeconds: 0, ...(key && { key: node.signers[0]!.vkey }) })
  if (synced) await test.mirror.sync('main')
  return {
    ...test,
    node,
    alarm: async () => (await test.mirror.status('main'))[0]!.alarm?.code,
    served: async () => (await test.api.searchSkills({ limit: 100 })).skills.map(({ fullName }) => fullName).toSorted(),
  }
}

/** Runs a suite about such pairs on SQLite and on PostgreSQL. */
export function describePairs(name: string, define: (open: typeof openPair, openMirror: OpenTestMirror) => void): void {
  describeMirrors(name, (open) => define((options) => openPair({ open, ...options }), open))
}

/** The skills that the node has published at the start. */
export const three = ['alice/pdf', 'alice/tea', 'bob/notes']
