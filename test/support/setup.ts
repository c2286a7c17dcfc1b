import { afterAll, type TaskMeta } from 'vitest'
import { finishFile } from './file-end.ts'
import { readProcessorSeconds, takePhases, type Phase } from './phases.ts'

declare module 'vitest' {
  interface TaskMeta {
    /** What a test file cost, for `pnpm test:profile`; set on the file alone. */
    profile?: FileProfile
  }
}

/** Seconds: on the processor (the worker's and its ended children's), and by phase on the clock. */
export interface FileProfile {
  readonly own: number
  readonly children: number
  readonly phases: Partial<Record<Phase, number>>
}

takePhases()
const before = readProcessorSeconds()

// Registered before the hooks of the file itself, so that it runs after them.
// oxlint-disable-next-line no-empty-pattern -- vitest refuses any other form for hooks that need no fixture
afterAll(async ({}, file) => {
  await finishFile()
  const after = readProcessorSeconds()
  const profile = { own: after.own - before.own, children: after.children - before.children, phases: takePhases() }
  Object.assign<TaskMeta, TaskMeta>(file.meta, { profile })
})
