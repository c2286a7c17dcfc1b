import { useLocation } from 'preact-iso'
import { api } from '../../api.ts'
import { useMe } from '../../data/session.ts'
import { toAddress } from '../../data/use-address.ts'
import { Field, Form, TextArea, useAction } from '../../ui/form.tsx'
import { SignInLink } from '../../ui/sign-in-link.tsx'
import { refreshRequests } from './request-data.ts'

/** Asks for a skill. Guests may: then nobody but an administrator can close it. */
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
        Say what an agent should be able to do. <a href="/">Search first</a>: it may be there under another name.
      </p>
      {me === null && (
        <p class="faint">
          You are not signed in, so this is asked as a guest: only an administrator can close it later.{' '}
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
          hint="What should it take, what should come out, and for which tool or format? Everybody can read it."
        />
      </Form>
    </>
  )
}
