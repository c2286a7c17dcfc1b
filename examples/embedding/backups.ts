// A backup of a registry that is in use, and its restoration. Run it in an empty folder with
//   node --conditions=source CLONE/examples/embedding/backups.ts
import { openSkills } from '@skillstead/core'
import { restoreRegistry, writeBackup } from '@skillstead/maintenance'

const toSkillMd = (name: string) => `---\nname: ${name}\ndescription: Make a good cup of ${name}.\n---\n# ${name}\n`

const skills = await openSkills({ path: 'skills.db', as: 'runtime' })
await skills.api.publishSkill({ skillMd: toSkillMd('tea') })
const bytes = await writeBackup('skills.db', 'backup.db')
console.log(`the backup is ${bytes > 0 ? 'complete' : 'empty'}`)
await skills.api.publishSkill({ skillMd: toSkillMd('coffee') })

// A backup is opened as it is for reading. To continue from it, restore it to a new path.
await restoreRegistry('backup.db', 'restored.db')
const restored = await openSkills({ path: 'restored.db', as: 'runtime' })
for (const [name, { api }] of Object.entries({ skills, restored })) {
  const { skills: found } = await api.searchSkills({})
  console.log(
    `${name}: ${found
      .map(({ fullName }) => fullName)
      .toSorted()
      .join(', ')}`,
  )
}
await restored.close()
await skills.close()
