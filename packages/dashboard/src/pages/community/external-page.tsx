import { api, useData } from '../../api.ts'
import { useMe } from '../../session.ts'
import { useAddress } from '../../addresses.ts'
import { Check, ConfirmButton, Field, Form, useAction, TextArea, type Fields } from '../../ui/form.tsx'
import { Page, toPageNumber, ItemList } from '../../ui/page.tsx'
import { Badge, Count, Reasons, SecurityBadge, Time } from '../../ui/parts.tsx'
import { SignInTo } from '../../ui/sign-in-link.tsx'
import { Findings, Verdict } from '../../ui/findings.tsx'
import { useFilter } from '../../ui/address-choice.tsx'

const registryOptions = [
  ['all', 'All'],
  ['github', 'GitHub'],
  ['skills.sh', 'skills.sh'],
] as const

/** Indexed skills of other registries, and a form that scans a skill before an install. */
export default function ExternalPage() {
  const me = useMe()
  const isAdmin = me?.role === 'admin'
  const { fields, change } = useAddress()
  const [registry, filter] = useFilter('Registry', 'registry', registryOptions)
  const verified = fields.verified === 'true' || undefined
  const wanted = { registry, verified, page: toPageNumber(fields.page) }
  const found = useData(['external', wanted], () => api.listExternal(wanted))
  const isNone = found.data?.total === 0 && registry === 'all' && !verified
  const empty = (
    <>
      <p>None are known{isNone ? ' yet' : ' of this kind'}.</p>
      <p>They appear here when a user reports an install from another registry, or imports a list.</p>
    </>
  )
  return (
    <Page
      title="External skills"
      hint="Skills of other registries that users of this node install. Scan one before you install it."
      aside={
        me && (
          <>
            {isAdmin && <NewEntry />}
            <ScanForm />
          </>
        )
      }
    >
      <SignInTo class="hint">scan a skill by its URL or its text</SignInTo>
      <div class="filters">
        {filter}
        <Check
          checked={verified === true}
          onChange={(event) => change({ verified: event.currentTarget.checked ? 'true' : undefined, page: undefined })}
        >
          Scanned
        </Check>
      </div>
      <ItemList of={found} items="externalSkills" empty={empty}>
        {({ id, name, url, description, author, installs, scannedAt, ...skill }) => (
          <li key={id}>
            <h2>
              <a href={toWebAddress(url)} rel="noopener noreferrer nofollow">
                <bdi>{name}</bdi>
              </a>
            </h2>
            <p dir="auto">{description}</p>
            <p class="facts">
              <Badge>{skill.registry}</Badge>
              <SecurityBadge score={skill.securityScore} />
              {author && <bdi>{author}</bdi>}
              <Count of={installs} unit="install" />
              {scannedAt && <Time at={scannedAt} verb="scanned" />}
            </p>
            {isAdmin && (
              <ConfirmButton
                action="Remove"
                title={`Remove ${name} from the list?`}
                work={() => api.deleteExternal({ id })}
              >
                <p>It returns when a user adds it again, or reports an install of it.</p>
              </ConfirmButton>
            )}
          </li>
        )}
      </ItemList>
    </Page>
  )
}

/** Only http and https links: other schemes can run code. */
const toWebAddress = (url: string): string | undefined => (/^https?:\/\//i.test(url) ? url : undefined)

/** For administrators: adds a skill of another registry to the index, and scans it. */
const NewEntry = () => (
  <Form
    card="Add a skill to this list"
    work={({ url = '' }) => api.addExternal({ url: url.trim() })}
    submit="Add and scan it"
    done="Added to the list."
  >
    <Field label="URL" name="url" required maxLength={2000} placeholder="https://github.com/owner/repository">
      A URL as above, or a source such as owner/repo@skill. Adding it again scans it again.
    </Field>
  </Form>
)

/** Scans a skill by its URL or its text, and shows the report. */
function ScanForm() {
  const action = useAction(({ url, content }: Fields) => api.scanExternal(url ? { url } : { content }))
  const { result } = action
  const report = result && 'score' in result ? result : undefined
  return (
    <details class="card">
      <summary>Scan a skill</summary>
      <Form action={action} submit="Scan">
        <Field label="Address" name="url" type="url" placeholder="https://github.com/owner/repository">
          A skill's folder on GitHub, its SKILL.md, or an archive. Only public addresses are read.
        </Field>
        <TextArea label="Or the text of a SKILL.md" name="content" rows={6} hint="Used if there is no URL." />
      </Form>
      {report && (
        <section aria-label="The report">
          <h3>The report</h3>
          <Verdict of={report} />
          <p class="faint">
            Scanned <Time at={report.scannedAt} /> by the rules {report.rulesVersion}. <code>{report.digest}</code>
          </p>
          <Findings findings={report.findings} />
          <Reasons title="Not scanned" of={report.cut} />
        </section>
      )}
    </details>
  )
}
