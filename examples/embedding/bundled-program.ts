// The program that bundled.ts bundles.
import { openSkills } from '@skillstead/core'

const skills = await openSkills({
  path: 'skills.db',
  as: 'runtime',
  threads: new URL('./threads/', import.meta.url),
  onDegraded: (what) => console.log(what),
})
const body = 'Warm the pot, then steep the leaves.\n\n'.repeat(2000)
await skills.api.publishSkill({ skillMd: `---\nname: tea\ndescription: Make tea.\n---\n# Tea\n\n${body}` })
await skills.load('runtime/tea', { maxTokens: 300 })
console.log('tea was published and loaded')
await skills.close()
