import { useLocation, useRoute } from 'preact-iso'
import { api, useData } from '../../api.ts'
import { nodeUrl } from '../../addresses.ts'
import { mayDo, useRoleFor } from '../../organisations.ts'
import { ConfirmButton, Field, Form, Select, TextArea, useAction, type Fields } from '../../ui/form.tsx'
import { LoadedPage, Page } from '../../ui/page.tsx'
import { Badge, Copyable, Count, Empty, Time, UserLink } from '../../ui/parts.tsx'
import { SkillList } from '../../ui/skill-list.tsx'
import { BudgetBar, toMemberLines, toMembers, visibilityOptions, type Visibility } from './packs-page.tsx'

type Pack = Awaited<ReturnType<typeof api.getPack>>

/** One pack: its skills, install commands, and context budget. */
export default function PackPage() {
  const { slug = '' } = useRoute().params
  const found = useData(['pack', slug], () => api.getPack({ slug }))
  return (
    <LoadedPage title={slug} of={found}>
      {(pack) => <PackShown pack={pack} />}
    </LoadedPage>
  )
}

function PackShown({ pack }: { pack: Pack }) {
  const role = useRoleFor(pack.curator.username)
  return (
    <Page title={pack.name} aside={mayDo(role, 'publish') && <Change pack={pack} mayManage={mayDo(role, 'manage')} />}>
      <p dir="auto">{pack.description}</p>
      <p class="facts">
        {pack.visibility !== 'public' && <Badge>{pack.visibility}</Badge>}
        <span>
          Pack by <UserLink name={pack.curator.username} />
        </span>
        <Count of={pack.skills.length} unit="skill" />
        <Time at={pack.updatedAt} verb="changed" />
      </p>
      <div class="side-by-side">
        <section aria-label="Skills of the pack">
          {pack.skills.length === 0 ? (
            <Empty>This pack has no skills that you can see.</Empty>
          ) : (
            <SkillList skills={pack.skills} notes={pack.skills.map(toMemberNote)} />
          )}
        </section>
        <aside>
          <section class="card">
            <h2>Install</h2>
            {pack.visibility === 'public' && <Copyable text={`npx skills add ${nodeUrl}/packs/${pack.slug}`} />}
            <Copyable text={`skillstead install pack:${pack.slug} --url ${nodeUrl}`} />
          </section>
          <BudgetBar of={pack.budget} />
        </aside>
      </div>
    </Page>
  )
}

function toMemberNote({ pinnedVersion, note }: Pack['skills'][number]): string {
  return [pinnedVersion && `Pinned to ${pinnedVersion}.`, note].filter(Boolean).join(' ')
}

function Change({ pack, mayManage }: { pack: Pack; mayManage: boolean }) {
  const { route } = useLocation()
  const { slug } = pack
  const action = useAction(async (fields: Fields) => {
    await api.updatePack({
      slug,
      name: fields.name,
      description: fields.description,
      skills: keepNotes(pack, toMembers(fields.skills ?? '')),
      visibility: fields.visibility as Visibility | undefined,
    })
  })
  return (
    <details class="card">
      <summary>Change this pack</summary>
      <Form action={action} submit="Save">
        <Field label="Name" name="name" required maxLength={100} defaultValue={pack.name} />
        <TextArea label="Description" name="description" maxLength={2000} value={pack.description} />
        <TextArea label="Skills" name="skills" rows={8} value={toMemberLines(pack.skills)}>
          One per line: owner/name, with @1.2.0 appended to pin a version.
        </TextArea>
        {mayManage && (
          <Select label="Visibility" name="visibility" value={pack.visibility} options={visibilityOptions} />
        )}
      </Form>
      {mayManage && (
        <ConfirmButton
          action="Delete the pack"
          title={
            <>
              Delete <bdi>{pack.name}</bdi>?
            </>
          }
          work={async () => {
            await api.deletePack({ slug })
            route('/packs')
          }}
        >
          <p>The skills themselves stay. This cannot be undone.</p>
        </ConfirmButton>
      )}
    </details>
  )
}

/** The form has no field for notes, so skills that stay in the pack keep theirs. */
function keepNotes({ skills }: Pack, members: ReturnType<typeof toMembers>) {
  const notes = new Map(skills.map(({ fullName, note }) => [fullName, note]))
  return members.map((member) => ({ ...member, note: notes.get(member.name) || undefined }))
}
