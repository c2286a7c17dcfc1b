import type { SkillDetails } from '@skillstead/protocol'
import { api } from '../../../api.ts'
import { useData } from '../../../data/queries.ts'
import { ConfirmButton } from '../../../ui/confirm.tsx'
import { ActionButton, useAction } from '../../../ui/form.tsx'
import { Badge, Time } from '../../../ui/parts.tsx'
import { Shown } from '../../../ui/shown.tsx'
import { refreshSkill } from '../../../data/refresh-skill.ts'

type Version = SkillDetails['versions'][number]

/** Versions that can be yanked and unyanked. */
export function Yanks({ skill }: { skill: SkillDetails }) {
  const name = skill.fullName
  const found = useData(['skill', name, 'yanks', skill.updatedAt], () => api.listVersions({ name, limit: 20 }))
  return (
    <section>
      <h2>Versions</h2>
      <Shown of={found}>
        {({ versions }) => (
          <ul class="plain">
            {versions.map((version) => (
              <li key={version.version} class="row">
                <strong>{version.version}</strong>
                <Time at={version.publishedAt} />
                <Yank name={name} version={version} />
              </li>
            ))}
          </ul>
        )}
      </Shown>
      <p class="faint">The latest 20. A yanked version is installed only by users who name it exactly.</p>
    </section>
  )
}

function Yank({ name, version: { version, yanked } }: { name: string; version: Version }) {
  const giveBack = useAction(async () => {
    await api.unyankVersion({ name, version })
    await refreshSkill()
  })
  if (yanked) {
    return (
      <>
        <Badge tone="bad">yanked</Badge>
        <ActionButton action={giveBack}>Undo the yank of {version}</ActionButton>
      </>
    )
  }
  const work = async () => {
    await api.yankVersion({ name, version })
    await refreshSkill()
  }
  return (
    <ConfirmButton action={`Yank ${version}`} title={`Yank ${version}?`} work={work}>
      <p>Users who installed it are warned. It is served only to users who name it exactly. You can undo this.</p>
    </ConfirmButton>
  )
}
