import { command } from '../../command/command.ts'
import { globalOption } from '../../install/install-place.ts'
import { toRecallText } from '../../install/recall-text.ts'
import { openSession } from '../../install/session.ts'
import { listInstalled } from '../../install/verify-installed.ts'

export const commands = {
  list: command({
    description:
      'List installed skills, those with local changes, and those that their registry recalled, as it reported last. Needs no network.',
    options: globalOption,
    async run(given, output) {
      const session = await openSession(given, output)
      return { skills: await listInstalled(session, Object.entries(session.lock.skills)) }
    },
    show({ skills }) {
      if (skills.length === 0) return ['No skills are installed here. Install one with `skillstead install NAME`.']
      const heads = skills.map(({ fullName, version }) => `${fullName}@${version}`)
      const width = Math.max(...heads.map(({ length }) => length))
      return skills.map(({ targets, recalled }, i) => {
        const places = targets.map(({ target, state }) => (state === 'intact' ? target : `${target} (${state})`))
        const mark = recalled ? `  ${toRecallText(recalled)}` : ''
        return `${heads[i]!.padEnd(width)}  ${places.join(', ')}${mark}`
      })
    },
  }),
}
