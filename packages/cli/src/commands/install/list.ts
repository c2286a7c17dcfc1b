import { command } from '../../command/command.ts'
import { globalOption } from '../../install/install-place.ts'
import { openSession } from '../../install/session.ts'
import { listInstalled } from '../../install/verify-installed.ts'

export const commands = {
  list: command({
    description: 'List installed skills, and those with local changes. Needs no network.',
    options: globalOption,
    async run(given, output) {
      const session = await openSession(given, output)
      return { skills: await listInstalled(session, Object.entries(session.lock.skills)) }
    },
    show({ skills }) {
      if (skills.length === 0) return ['No skills are installed here. Install one with `skillstead install NAME`.']
      const heads = skills.map(({ fullName, version }) => `${fullName}@${version}`)
      const width = Math.max(...heads.map(({ length }) => length))
      return skills.map(({ targets }, i) => {
        const places = targets.map(({ target, state }) => (state === 'intact' ? target : `${target} (${state})`))
        return `${heads[i]!.padEnd(width)}  ${places.join(', ')}`
      })
    },
  }),
}
