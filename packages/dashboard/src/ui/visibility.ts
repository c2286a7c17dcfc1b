/** What a form can set as the visibility: `organisation` is `internal`, limited to the members of the owner. */
type Choice = 'public' | 'internal' | 'organisation' | 'private'

/** The options for the skills of an organisation, or of a user. */
export function toVisibilityOptions(organisation: string | undefined): readonly (readonly [Choice, string])[] {
  return [
    ['public', 'Public: all users and guests'],
    ['internal', 'Internal: users of this node'],
    ...(organisation ? ([['organisation', `Internal: members of ${organisation}`]] as const) : []),
    [
      'private',
      organisation
        ? `Private: members of ${organisation} who may publish or review, and collaborators`
        : 'Private: you and your collaborators',
    ],
  ]
}

/** The fields of a publication for a choice; none for an empty one. */
export function toVisibilityFields(choice: string | undefined, organisation: string | undefined) {
  if (!choice) return {}
  const visibility = choice === 'organisation' ? ('internal' as const) : (choice as Exclude<Choice, 'organisation'>)
  return {
    visibility,
    ...(organisation && visibility === 'internal' && { organisation: choice === 'organisation' ? organisation : '' }),
  }
}
