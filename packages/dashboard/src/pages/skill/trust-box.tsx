import { BadgeCheck, FileCheck, type IconNode, KeyRound, OctagonX, ShieldCheck, TriangleAlert, User } from 'lucide'
import type { AccessKind, Security } from '@skillstead/protocol'
import type { ComponentChildren } from 'preact'
import { addresses } from '../../addresses.ts'
import { Icon } from '../../ui/icon.tsx'
import { NameLink, toCount, type Tone } from '../../ui/parts.tsx'
import { verdictTones } from '../../ui/findings.tsx'
import { accessKinds } from './access-list.tsx'
import { toTab, type ShownSkill } from './shown-skill.ts'

const icons: Readonly<Record<Security['verdict'], IconNode>> = {
  safe: ShieldCheck,
  caution: TriangleAlert,
  dangerous: OctagonX,
}
const verdicts: Readonly<Record<Security['verdict'], string>> = {
  safe: 'The scan found no warnings',
  caution: 'Read the findings first',
  dangerous: 'Dangerous: do not install it',
}
const verbs: Readonly<Record<AccessKind, string>> = {
  commands: 'runs',
  hosts: 'calls',
  packages: 'installs',
  environment: 'reads variables',
  files: 'touches files',
  tools: 'uses tools',
}
const namesMax = 3

/** Whether one may trust this version: the verdict, what it may do, who published it, and the proof. */
export function TrustBox({ shown }: { shown: ShownSkill }) {
  const { skill } = shown
  const { security, access, author } = skill
  const used = access ? accessKinds.filter((kind) => access[kind].length > 0) : []
  return (
    <section class="box trust" aria-label="Trust">
      <Line
        icon={security ? icons[security.verdict] : TriangleAlert}
        tone={security ? verdictTones[security.verdict] : 'plain'}
      >
        <a href={toTab(shown, 'security')}>{security ? verdicts[security.verdict] : 'Not scanned yet'}</a>
        {security && security.findings.length > 0 && `, ${toCount(security.findings.length, 'finding')}`}
      </Line>
      <Line icon={KeyRound}>
        {used.length === 0 ? (
          'Its text names no programs, hosts or files'
        ) : (
          <ul class="plain-links may">
            {used.map((kind) => (
              <li key={kind}>
                {verbs[kind]}{' '}
                {access![kind].slice(0, namesMax).map((name, place) => (
                  <>
                    {place > 0 && ', '}
                    <code>
                      <bdi>{name}</bdi>
                    </code>
                  </>
                ))}
                {access![kind].length > namesMax && ` and ${access![kind].length - namesMax} more`}
              </li>
            ))}
          </ul>
        )}
      </Line>
      <Line icon={skill.verified ? BadgeCheck : User} tone={skill.verified ? 'good' : 'plain'}>
        <span>
          by <NameLink href={addresses.user(author.username)} name={author.username} />
          {skill.verified ? ', identity verified' : ', identity not verified'}
        </span>
      </Line>
      <Line icon={FileCheck}>
        <a href={toTab(shown, 'provenance')}>Verify it in your browser</a>
      </Line>
    </section>
  )
}

function Line({ icon, tone = 'plain', children }: { icon: IconNode; tone?: Tone; children: ComponentChildren }) {
  return (
    <div class="trust-line">
      <span class={tone === 'plain' ? undefined : tone}>
        <Icon of={icon} />
      </span>
      <div>{children}</div>
    </div>
  )
}
