// A registry that mirrors another one and continues without it: everything is verified before it is visible here, and
// stays available when the other registry is not. Both run in this process, connected by a port.
//   node --conditions=source examples/mirror.ts
import { localApi, openRegistry, systemCaller } from '@skillstead/core'
import { createMirror, mirrorExtension } from '@skillstead/mirror'
import { listenNode } from '@skillstead/server'

const main = await openRegistry({ path: ':memory:', origin: 'skills.example.com' })
await localApi(main, systemCaller).createUser({ username: 'alice' })
const alice = localApi(main, await main.getCaller('alice'))
const toSkillMd = (name: string) => `---\nname: ${name}\ndescription: How to make ${name}.\n---\n# ${name}\n`
for (const name of ['tea', 'coffee']) await alice.publishSkill({ skillMd: toSkillMd(name) })
const node = await listenNode(main, { port: 0 })

const office = await openRegistry({
  path: ':memory:',
  origin: 'skills.office.example',
  extensions: [mirrorExtension],
})
const mirror = createMirror(office, {
  privateNames: ['office/*'], // names that are never sent to the upstream
  onAlarm: (upstream, { message }) => console.error(`${upstream} is paused: ${message}`),
})
await mirror.add('main', node.url, { everySeconds: 600 })
const first = await mirror.sync('main')
console.log(`${first.applied} changes came in, with ${first.requests} requests`)

await alice.publishSkill({ skillMd: `${toSkillMd('tea')}\nWarm the pot.\n`, version: '1.1.0' })
await alice.deleteSkill({ name: 'coffee' })
const next = await mirror.sync('main')
console.log(`${next.applied} more, ${next.removed} of them took something away`)

await node.close() // the network is gone
const { skills } = await localApi(office).searchSkills({ q: 'how to make tea' })
console.log(`found ${skills.map(({ fullName, latestVersion }) => `${fullName}@${latestVersion}`).join(', ')}`)
const { log, origin } = await localApi(office).getProvenance({ name: 'tea' })
console.log(`it came from ${origin.upstream}, and the log of ${log?.origin} proves it`)
await mirror.sync('main').catch((error: Error) => console.log(error.message.replace(node.url, 'main')))

await mirror.close()
await office.close()
await main.close()
