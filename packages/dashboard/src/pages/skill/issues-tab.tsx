import { useState } from 'preact/hooks'
import { useAddress } from '../../addresses.ts'
import { api } from '../../api.ts'
import { useMe } from '../../session.ts'
import { Field, Form, Select, TextArea, choice, type Fields } from '../../ui/form.tsx'
import { ItemList, usePaged } from '../../ui/page.tsx'
import { Badge, Time, UserText, UserLink } from '../../ui/parts.tsx'
import type { ShownSkill } from './shown-skill.ts'
import { SignInTo } from '../../ui/sign-in-link.tsx'

const types = [
  ['bug', 'Something is wrong'],
  ['feature', 'Something is missing'],
  ['question', 'A question'],
  ['security', 'A security problem'],
] as const

/** The issues of a skill, and a form to file one. */
export function IssuesTab({ shown: { name } }: { shown: ShownSkill }) {
  const { change } = useAddress()
  const found = usePaged(['skill', name, 'issues'], (page) => api.listIssues({ name, page }))
  const me = useMe()
  const [filed, setFiled] = useState(0)
  const file = async ({ type, title = '', body = '' }: Fields) => {
    await api.createIssue({ name, type: choice(types, type), title, body })
    setFiled(filed + 1)
    change({ page: undefined })
  }
  return (
    <>
      <ItemList of={found} items="issues" empty="No issues yet.">
        {(issue) => (
          <li key={issue.id}>
            <h3>
              <bdi>{issue.title}</bdi>
            </h3>
            <p class="facts">
              <Badge tone={issue.type === 'security' ? 'bad' : 'plain'}>{issue.type}</Badge>
              <UserLink name={issue.author.username} />
              <Time at={issue.createdAt} />
            </p>
            <UserText class="said-text">{issue.body}</UserText>
          </li>
        )}
      </ItemList>
      {me && (
        <section aria-label="File an issue">
          <h2>File an issue</h2>
          <Form key={filed} work={file} submit="File the issue">
            <Select label="What is it?" name="type" options={types} />
            <Field label="Title" name="title" required maxLength={200} />
            <TextArea label="What happened, and what did you expect?" name="body" maxLength={10_000} />
          </Form>
        </section>
      )}
      <SignInTo>file an issue</SignInTo>
    </>
  )
}
