import '../../styles/requests.css'
import { useState } from 'preact/hooks'
import { useAddress, toAddress } from '../../addresses.ts'
import { Page } from '../../ui/page.tsx'
import { RequestList } from './request-list.tsx'
import { RequestView } from './request-view.tsx'
import { useLocation } from 'preact-iso'
import { api } from '../../api.ts'
import { useMe } from '../../session.ts'
import { Field, Form, TextArea, useAction } from '../../ui/form.tsx'
import { SignInLink } from '../../ui/sign-in-link.tsx'
import { LinkButton } from '../../ui/parts.tsx'

/** Skill requests: the list, one in full (`id`), or a new one (`new`, with its title). */
export default function RequestsPage() {
  const { fields } = useAddress()
  const [filed, setFiled] = useState<string>()
  if (fields.new !== undefined) {
    return (
      <Page title="Ask for a skill">
        <NewRequest title={fields.new.slice(0, 200)} filed={setFiled} />
      </Page>
    )
  }
  if (fields.id) {
    return <RequestView key={fields.id} id={fields.id} isNew={filed === fields.id} />
  }
  return (
    <Page
      title="Requests"
      hint="Skills that users miss. Votes show authors what to write next."
      aside={<LinkButton href="/requests?new=">Ask for a skill</LinkButton>}
    >
      <RequestList />
    </Page>
  )
}

/** Creates a skill request. Only an administrator can close a request of a guest. */
function NewRequest({ title, filed }: { title: string; filed: (id: string) => void }) {
  const me = useMe()
  const { route } = useLocation()
  const action = useAction(async (fields: Record<string, string>) => {
    const { id } = await api.createRequest({ title: fields.title!.trim(), description: fields.description!.trim() })
    filed(id)
    route(toAddress('/requests', { id }), true)
  })
  return (
    <>
      <p>
        Describe what an agent should be able to do. <a href="/">Search first</a>: the skill may exist under another
        name.
      </p>
      {me === null && (
        <p class="faint">
          You are not signed in, so this is a guest request: only an administrator can close it later.{' '}
          <SignInLink>Sign in</SignInLink>
        </p>
      )}
      <Form action={action} submit="Ask for this skill">
        <Field label="Title" name="title" required maxLength={200} dir="auto" defaultValue={title} autocomplete="off" />
        <TextArea label="Description" name="description" rows={6} maxLength={10_000}>
          Describe the input, the output, and the tool or format. The request is public.
        </TextArea>
      </Form>
    </>
  )
}
