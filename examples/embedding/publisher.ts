// A process of several-processes.ts: its arguments are a user and how many skills this user publishes.
import { openSkills } from '@skillstead/core'

const [as, count] = process.argv.slice(2)
const skills = await openSkills({ path: 'skills.db', profile: 'short', as })
for (let number = 1; number <= Number(count); number++) {
  const skillMd = `---\nname: skill-${number}\ndescription: Does task ${number}.\n---\n# Task ${number}\n`
  const { skill } = await skills.api.publishSkill({ skillMd })
  process.send?.(skill.fullName)
}
await skills.close()
process.disconnect?.()
