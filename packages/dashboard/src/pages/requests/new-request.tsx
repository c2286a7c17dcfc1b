import { useLocation } from 'preact-iso'
import { api } from '../../api.ts'
import { useMe } from '../../data/session.ts'
import { toAddress } from '../../data/use-address.ts'
import { Field, Form, TextArea, useAction } from '../../ui/form.tsx'
import { SignInLink } from '../../ui/sign-in-link.tsx'
import { refreshRequests } from './request-data.ts'

/** Requests a skill. A request of a guest can be closed only by an administrator. */
export function NewRequest({ title, filed }: { title: string; filed: (id: string) => void }) {
  const me = useMe()
  const { route } = useLocation()
  const action = useAction(async (fields: Record<string, string>) => {
    const { id } = await api.createRequest({ title: fields.title!.trim(), description: fields.description!.trim() })
    filed(id)
    await refreshRequests()
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
        <TextArea
          label="Description"
          name="description"
          rows={6}
          maxLength={10_000}
          hint="Describe the input, the output, and the tool or format. The request is public."
        />
      </Form>
    </>
  )
}
