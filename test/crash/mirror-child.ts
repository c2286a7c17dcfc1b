import { setTimeout } from 'node:timers/promises'
import { localApi, type RegistryOptions } from '@skillstead/core'
import { createMirror, importBundle } from '@skillstead/mirror'
import { RegistryError } from '@skillstead/protocol'
import { listenNode } from '@skillstead/server'
import { skillMd } from '../support/answers.ts'
import { publishVersions } from '../support/mirror-state.ts'
import { openRegistry } from '../support/open-registry.ts'

/** A process to be killed: it publishes, syncs from the publisher, or imports a bundle. */
export type MirrorChildOptions = { readonly location: Pick<RegistryOptions, 'path' | 'databaseUrl'> } & (
  | { readonly role: 'upstream'; readonly port: number; readonly run: number; readonly publishes: boolean }
  | { readonly role: 'sync' }
  | { readonly role: 'import'; readonly file: string }
)

export type MirrorChildSays = { kind: 'ready'; port?: number } | { kind: 'done' } | { kind: 'error'; message: string }

const names = 10
const publishPauseMs = 50
const syncPauseMs = 5
/** Error codes that a sync may get while the upstream is killed. */
const passing: ReadonlySet<string> = new Set(['upstream_failed', 'upstream_timeout'])

const options = JSON.parse(process.argv[2]!) as MirrorChildOptions
const say = (says: MirrorChildSays) => void process.send!(says)
// Exit when the parent process is gone.
process.once('disconnect', () => process.exit(1))
const registry = await openRegistry({ ...options.location, works: false })

if (options.role === 'upstream') await serve(options)
else if (options.role === 'sync') await sync()
else await importFile(options.file)

async function serve({ port, run, publishes }: { port: number; run: number; publishes: boolean }): Promise<void> {
  const node = await listenNode(registry, { port, rates: 'off', logger: undefined })
  say({ kind: 'ready', port: node.port })
  const alice = localApi(registry, await registry.getCaller('alice'))
  for (let count = 0; publishes; count += 1) {
    const [name, number] = [`skill-${count % names}`, run * 1000 + count]
    await publishVersions(alice, name, 1, number)
    if (count % 7 === 3) await alice.yankVersion({ name: `alice/${name}`, version: `1.0.${number}` })
    // Publish a skill and delete it immediately.
    if (count % 11 === 5) {
      await alice.publishSkill({ skillMd: skillMd(`gone-${run}-${count}`) })
      await alice.deleteSkill({ name: `alice/gone-${run}-${count}` })
    }
    await setTimeout(publishPauseMs)
  }
}

async function sync(): Promise<void> {
  const mirror = createMirror(registry, { onError: (error) => say({ kind: 'error', message: String(error) }) })
  say({ kind: 'ready' })
  for (;;) {
    await mirror.sync('main').catch((error: unknown) => {
      const isPassing = error instanceof RegistryError && passing.has(error.code)
      if (!isPassing) say({ kind: 'error', message: String(error) })
    })
    await setTimeout(syncPauseMs)
  }
}

async function importFile(file: string): Promise<void> {
  say({ kind: 'ready' })
  await importBundle(registry, file, { name: 'main' })
  await registry.close()
  say({ kind: 'done' })
}
