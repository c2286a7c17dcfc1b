import { accessKinds, memberRoles, type Policy, requirableFields, verdictWords } from '@skillstead/protocol'
import { api, useData } from '../../api.ts'
import { ActionButton, Check, Field, Form, Select, choice, useAction, type Fields } from '../../ui/form.tsx'
import { Shown } from '../../ui/page.tsx'
import { Notice, toCount } from '../../ui/parts.tsx'
import { SkillLink } from '../../ui/skill-list.tsx'
import { accessTitles } from '../skill/access-list.tsx'
import type { SectionProps } from '../../organisations.ts'

/** What an organisation demands of new versions. */
export function RulesSection({ organisation: { name: organisation }, mayAdminister }: SectionProps) {
  const found = useData(['organisation', organisation, 'policy'], () => api.getPolicy({ organisation }))
  const preview = useAction(async (fields: Fields) => {
    const policy = toPolicy(fields)
    return { policy, ...(await api.testPolicy({ organisation, policy })) }
  })
  const tried = preview.result
  return (
    <Shown of={found}>
      {({ policy }) => (
        <>
          <p class="hint">
            A version that breaks a rule is refused with the reason. What is stored stays. An empty field demands
            nothing. <a href="/docs/organisations">About rules and approvals</a>
          </p>
          {mayAdminister ? (
            // Input discards the preview, because the button below the preview saves the rules of the preview.
            <div onInput={preview.reset}>
              <Form action={preview} submit="Preview">
                <PolicyFields policy={policy} />
              </Form>
            </div>
          ) : (
            <pre tabIndex={0} aria-label="Rules">
              {JSON.stringify(policy, null, 2)}
            </pre>
          )}
          {tried && (
            <section class="card" aria-label="Preview">
              <h2>Preview</h2>
              <Refused of={tried} />
              <ActionButton
                work={() => api.setPolicy({ organisation, policy: tried.policy })}
                done="Saved. The rules apply to new versions."
              >
                Save these rules
              </ActionButton>
            </section>
          )}
        </>
      )}
    </Shown>
  )
}

const Refused = ({ of: { skills, tested } }: { of: Awaited<ReturnType<typeof api.testPolicy>> }) =>
  skills.length === 0 ? (
    <Notice>None of {toCount(tested, 'stored skill')} breaks these rules.</Notice>
  ) : (
    <>
      <p>
        {skills.length} of {toCount(tested, 'stored skill')} would be refused:
      </p>
      <ul class="plain">
        {skills.map(({ fullName, version, refusals }) => (
          <li key={fullName}>
            <SkillLink name={fullName} /> {version}
            <ul>
              {refusals.map(({ path, message }) => (
                <li key={path + message} dir="auto">
                  {message}
                </li>
              ))}
            </ul>
          </li>
        ))}
      </ul>
    </>
  )

const verdicts = [
  ['', 'any'],
  ['caution', verdictWords.caution],
  ['safe', verdictWords.safe],
] as const
const whens = [
  ['always', 'All versions'],
  ['widens', 'First versions, and those that gain access'],
] as const
/** The word for an empty list in the form. An empty list forbids everything, an absent list forbids nothing. */
const none = 'none'
const join = (names?: readonly string[]) => (names?.length === 0 ? none : names?.join(', '))

function PolicyFields({ policy }: { policy: Policy }) {
  const { approvals, licenses, withoutAccess, hosts, requires, sizeMax, namePattern, publicBy } = policy
  const count = { type: 'number' as const, name: 'count', min: 1, max: 10, defaultValue: approvals?.count }
  return (
    <>
      <Field label="Approvals before a version is published" {...count} />
      <Select label="Versions that need approval" name="when" value={approvals?.when} options={whens} />
      <Field label="Reviewers" name="reviewers" defaultValue={join(approvals?.reviewers)}>
        Usernames. Empty: all who may review.
      </Field>
      <Select label="Worst verdict of the scan" name="verdict" value={policy.verdict} options={verdicts} />
      <Field label="Licences" name="licenses" defaultValue={join(licenses)} hint="Such as MIT, Apache-2.0, or none." />
      <Choices
        label="No version may have"
        name="withoutAccess"
        options={accessKinds}
        titles={accessTitles}
        chosen={withoutAccess}
      />
      <Field label="Only these hosts" name="hosts" defaultValue={join(hosts)}>
        *.example.com stands for all below it; none forbids every host.
      </Field>
      <Choices label="Required fields" name="requires" options={requirableFields} chosen={requires} />
      <Field label="Maximum bytes" name="sizeMax" type="number" min={1} defaultValue={sizeMax} />
      <Field label="Names" name="namePattern" maxLength={64} defaultValue={namePattern} hint="As in acme-*." />
      <Choices
        label="Roles that may make a skill public"
        name="publicBy"
        options={[...memberRoles, none]}
        chosen={publicBy?.length === 0 ? [none] : publicBy}
      />
    </>
  )
}

const Choices = <T extends string>(props: {
  label: string
  name: string
  options: readonly T[]
  titles?: Readonly<Record<T, string>>
  chosen: readonly T[] | undefined
}) => (
  <fieldset>
    <legend>{props.label}</legend>
    {props.options.map((value) => (
      <Check key={value} name={`${props.name}.${value}`} defaultChecked={props.chosen?.includes(value)}>
        {props.titles?.[value] ?? value}
      </Check>
    ))}
  </fieldset>
)

/** The policy that the fields of the form demand; empty fields demand nothing. */
function toPolicy(fields: Record<string, string>): Policy {
  const list = (name: string) => unlessEmpty((fields[name] ?? '').split(/[\s,]+/).filter(Boolean))
  const listOrNone = (name: string) => (fields[name]?.trim() === none ? [] : list(name))
  const chosen = <T extends string>(name: string, all: readonly T[]) =>
    unlessEmpty(all.filter((value) => fields[`${name}.${value}`] !== undefined))
  const when = fields.when === 'widens' ? 'widens' : 'always'
  return {
    approvals: fields.count ? { count: Number(fields.count), when, reviewers: list('reviewers') } : undefined,
    verdict: choice(verdicts, fields.verdict) || undefined,
    licenses: listOrNone('licenses'),
    withoutAccess: chosen('withoutAccess', accessKinds),
    hosts: listOrNone('hosts'),
    requires: chosen('requires', requirableFields),
    sizeMax: fields.sizeMax ? Number(fields.sizeMax) : undefined,
    namePattern: fields.namePattern || undefined,
    publicBy: chosen('publicBy', memberRoles) ?? (fields[`publicBy.${none}`] ? [] : undefined),
  }
}

const unlessEmpty = <T,>(values: readonly T[]): T[] | undefined => (values.length > 0 ? [...values] : undefined)
