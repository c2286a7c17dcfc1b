import { openFalseNode, type FalseNode } from './false-node.ts'
import { startMs } from './harness.ts'
import { describeMirrors, openTestMirror, type OpenTestMirror, type TestMirror } from './mirror-acts.ts'

/** A mirror, and the false node that it follows. */
export interface Pair extends TestMirror {
  readonly node: FalseNode
  /** The code of the alarm that it stands still for. */
  alarm(): Promise<string | undefined>
  /** The full names of what is served. */
  served(): Promise<string[]>
}

/** A mirror of a false node that has published three skills, and was followed until then where that is asked for. */
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

/** Runs a suite about such pairs on both databases: for what lies where things are stored. */
export function describePairs(name: string, define: (open: typeof openPair, openMirror: OpenTestMirror) => void): void {
  describeMirrors(name, (open) => define((options) => openPair({ open, ...options }), open))
}

/** What the node has published by then. */
export const three = ['alice/pdf', 'alice/tea', 'bob/notes']
