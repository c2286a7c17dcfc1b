// A registry inside a program, without a port or a service. Run it with
//   node --conditions=source examples/embed.ts
import { localApi, openRegistry, systemCaller } from '@skillstead/core'

const registry = await openRegistry({ path: ':memory:' })
await localApi(registry, systemCaller).createUser({ username: 'alice' })
const alice = localApi(registry, await registry.getCaller('alice'))

const skillMd = `---
name: tea
description: Make a good cup of tea.
---
# Tea

Warm the pot first.
`
const { skill, version } = await alice.publishSkill({ skillMd, keywords: ['kitchen'] })
console.log(`published ${skill.fullName}@${version.version}`)

const guest = localApi(registry)
const { skills } = await guest.searchSkills({ q: 'cup of tae' })
console.log(`found ${skills.map(({ fullName }) => fullName).join(', ')}`)

const { body } = await guest.getSkillMd({ name: 'tea' })
console.log(`read ${(body as Uint8Array).length} bytes of SKILL.md`)
await registry.close()
