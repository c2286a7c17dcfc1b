// An air-gapped team: skills published outside are carried in on a USB stick, in signed files, and only a number is
// carried out. Both sides are in one program here; in practice they are two machines, which use
// `skillstead bundle create` and `skillstead bundle import`.
//   node --conditions=source examples/air-gap.ts
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { localApi, openRegistry, systemCaller } from '@skillstead/core'
import { createBundle, importBundle, mirrorExtension, verifyBundle } from '@skillstead/mirror'

const stick = await mkdtemp(join(tmpdir(), 'skillstead-stick-'))
const outside = await openRegistry({ path: ':memory:', origin: 'skills.example.com' })
const inside = await openRegistry({
  path: ':memory:',
  origin: 'skills.inside.example',
  extensions: [mirrorExtension],
})

await localApi(outside, systemCaller).createUser({ username: 'alice' })
const alice = localApi(outside, await outside.getCaller('alice'))
const toSkillMd = (name: string) => `---\nname: ${name}\ndescription: How to make ${name}.\n---\n# ${name}\n`
await alice.publishSkill({ skillMd: toSkillMd('tea'), version: '1.0.0' })
await alice.publishSkill({ skillMd: toSkillMd('coffee'), version: '1.0.0' })

// Exchange the key once over another channel than the stick: on paper, or by telephone.
const keys = (await outside.verifierKeys()).map(({ vkey }) => vkey)

const first = join(stick, 'first.bundle')
const { header } = await createBundle(outside, first)
console.log(`wrote ${header.counts.complete} versions of ${header.origin}`)

const { signers } = await verifyBundle(first, { keys })
console.log(`it is whole, and signed by ${signers[0]?.name}`)
const imported = await importBundle(inside, first, { keys })
console.log(`${imported.applied} changes came in; the next bundle begins after ${imported.head}`)

// Later: a new version, and a yanked one. The next stick contains only the changes.
await alice.publishSkill({ skillMd: `${toSkillMd('tea')}\nWarm the pot.\n`, version: '1.1.0' })
await alice.deleteSkill({ name: 'alice/coffee' })
const second = join(stick, 'second.bundle')
await createBundle(outside, second, { since: imported.head })
const next = await importBundle(inside, second)
console.log(`${next.applied} more changes came in, ${next.removed} of them took something away`)

const { skills } = await localApi(inside).searchSkills({ q: 'how to make tea' })
console.log(`inside there is ${skills.map(({ fullName, latestVersion }) => `${fullName}@${latestVersion}`).join(', ')}`)

await outside.close()
await inside.close()
await rm(stick, { recursive: true })
