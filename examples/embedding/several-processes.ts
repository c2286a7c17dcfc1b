// Three processes that publish to one file, one of which is killed. Run it in an empty folder with
//   node --conditions=source CLONE/examples/embedding/several-processes.ts
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { openSkills } from '@skillstead/core'

const skills = await openSkills({ path: 'skills.db', as: 'reader' })
const changes = skills.changes()

const program = fileURLToPath(new URL('./publisher.ts', import.meta.url))
const published = new Set<string>()
const children = Object.entries({ alice: 20, bob: 20, carol: 5000 }).map(([name, count]) => {
  const child = fork(program, [name, String(count)])
  // A process reports a skill once it is committed.
  child.on('message', (fullName: string) => {
    published.add(fullName)
    if (fullName === 'carol/skill-5') child.kill('SIGKILL')
  })
  return once(child, 'exit')
})
const exits = await Promise.all(children)
const killed = exits.filter(([, signal]) => signal === 'SIGKILL')
console.log(`${exits.length} processes ended, ${killed.length} of them killed`)

const missing = new Set(published)
for await (const change of changes) {
  if (change.type !== 'reset') missing.delete(change.fullName)
  if (missing.size === 0) break
}
for (const fullName of published) await skills.load(fullName)
console.log('every published skill was reported as a change, and loads')
await skills.close()
