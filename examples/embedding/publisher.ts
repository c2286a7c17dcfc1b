// A process of several-processes.ts: it publishes twenty skills as the user that its argument names.
import { openSkills } from '@skillstead/core'

const skills = await openSkills({ path: 'skills.db', profile: 'short', as: process.argv[2]! })
for (let number = 1; number <= 20; number++) {
  const skillMd = `---\nname: skill-${number}\ndescription: Does task ${number}.\n---\n# Task ${number}\n`
  const { skill } = await skills.api.publishSkill({ skillMd })
  process.send?.(skill.fullName)
}
await skills.close()
process.disconnect?.()
