// Opens a registry whose schema may be older than the program, with a backup before it is migrated. Run it in an empty folder with
//   node --conditions=source CLONE/examples/embedding/upgrades.ts
import { isRegistryError, openSkills, type Skills } from '@skillstead/core'
import { writeBackup } from '@skillstead/maintenance'
import { mirrorExtension } from '@skillstead/mirror'

/** Like a new version, an extension that the registry does not have yet adds tables to the schema. */
const options = { path: 'skills.db', extensions: [mirrorExtension] }

async function openUpgraded(): Promise<Skills> {
  try {
    // The mode `read` migrates nothing, so it tells whether the schema is older.
    await (await openSkills({ ...options, mode: 'read', profile: 'short' })).close()
    console.log('the schema is current')
  } catch (error) {
    if (!isRegistryError(error, 'older_schema')) throw error
    await writeBackup(options.path, 'before-upgrade.db')
    console.log('the schema is older: the backup before-upgrade.db was written')
  }
  return openSkills({ ...options, mode: 'write' })
}

await (await openSkills({ path: options.path })).close()
for (const start of ['first', 'second']) {
  const skills = await openUpgraded()
  console.log(`${start} start: ${(await skills.search('tea')).total} skills found`)
  await skills.close()
}
