import { BadgeCheck, FileCheck, type IconNode, KeyRound, TriangleAlert, User } from 'lucide'
import type { Security } from '@skillstead/protocol'
import type { ComponentChildren } from 'preact'
import { useMemo } from 'preact/hooks'
import { Icon } from '../../ui/icon.tsx'
import { Download } from '../../ui/own-files.tsx'
import { toCount, type Tone, UserLink, verdictIcons, verdictTones } from '../../ui/parts.tsx'
import { FindingPlace, findDecisive } from '../../ui/findings.tsx'
import { isEmptyAccess, Uses } from './access-list.tsx'
import { toSbomAddress, toShortName, toTab, type ShownSkill } from './shown-skill.ts'

const verdicts: Readonly<Record<Security['verdict'], string>> = {
  safe: 'The scan found no known sign of harm',
  caution: 'Read the findings first',
  dangerous: 'Dangerous: do not install it',
}

/** What speaks for and against trust in this version: the verdict, what it may do, who published it, and the proof. */
export function TrustBox({ shown }: { shown: ShownSkill }) {
  const { skill } = shown
  const { security, access, author } = skill
  const decisive = useMemo(() => security && findDecisive(security), [security])
  return (
    <section class="box trust" aria-label="Trust">
      <Line
        icon={security ? verdictIcons[security.verdict] : TriangleAlert}
        tone={security ? verdictTones[security.verdict] : 'plain'}
      >
        <a href={toTab(shown, 'security')}>{security ? verdicts[security.verdict] : 'Not scanned yet'}</a>
        {security && security.findings.length > 0 && `, ${toCount(security.findings.length, 'finding')}`}
        {decisive && (
          <div class="hint">
            {decisive.title}: <FindingPlace of={decisive} />. {decisive.remediation}
          </div>
        )}
      </Line>
      <Line icon={KeyRound}>
        {!access || isEmptyAccess(access) ? 'Its text names no programs, hosts or files' : <Uses access={access} />}
      </Line>
      <Line icon={skill.verified ? BadgeCheck : User} tone={skill.verified ? 'good' : 'plain'}>
        <span>
          by <UserLink name={author.username} />
          {skill.verified ? ', identity verified' : ', identity not verified'}
        </span>
      </Line>
      <Line icon={FileCheck}>
        <a href={toTab(shown, 'provenance')}>Verify it in your browser</a>
        {shown.version !== '' && (
          <>
            {', or read its '}
            <Download path={toSbomAddress(shown)} name={`${toShortName(skill)}-${shown.version}.cdx.json`}>
              bill of materials
            </Download>
          </>
        )}
      </Line>
    </section>
  )
}

const Line = ({ icon, tone = 'plain', children }: { icon: IconNode; tone?: Tone; children: ComponentChildren }) => (
  <div class="trust-line">
    <span class={tone === 'plain' ? undefined : tone}>
      <Icon of={icon} />
    </span>
    <div>{children}</div>
  </div>
)
