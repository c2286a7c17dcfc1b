import type { Input, MemberRole, endpoints } from '@skillstead/protocol'
import type { TestRegistry, TestUser } from './harness.ts'

/** Has an owner invite a user that the test made, and the user accept. */
export async function addCollaborator(
  test: TestRegistry,
  owner: TestUser,
  input: Input<typeof endpoints.putCollaborator>,
): Promise<void> {
  const { status } = await owner.api.putCollaborator(input)
  if (status === 'accepted') return
  const name = input.name.includes('/') ? input.name : `${owner.username}/${input.name}`
  await test.api(input.username).acceptCollaboration({ name })
}

/** Makes an organisation of users that the test made, by their roles. The first one is an owner, and creates it. */
export async function makeOrganisation(
  test: TestRegistry,
  organisation: string,
  roles: Readonly<Record<string, MemberRole>>,
): Promise<void> {
  const [first, ...others] = Object.keys(roles)
  const { createOrganisation, putMember } = test.api(first)
  await createOrganisation({ name: organisation })
  for (const username of others) {
    await putMember({ organisation, username, role: roles[username]! })
    await test.api(username).acceptMembership({ organisation })
  }
}
