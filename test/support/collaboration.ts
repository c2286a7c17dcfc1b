import type { Input, endpoints } from '@skillstead/protocol'
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
