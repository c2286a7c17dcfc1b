/**
 * A CI service that many use: the address that issues the tokens of its jobs, and the claims that say whose job it is.
 */
export interface CiService {
  readonly title: string
  readonly issuer: string
  /**
   * The claims that say whose job it is. An owner must name at least one of these claims: every customer of the service
   * gets tokens of the same issuer, and any repository can call a public workflow of another repository
   * (`job_workflow_ref`).
   */
  readonly identifying: readonly string[]
}

/** The CI services whose tokens are known, by the name that `skillstead trust add --issuer` takes. */
export const ciServices: Readonly<Record<'github' | 'gitlab' | 'buildkite', CiService>> = {
  github: {
    title: 'GitHub Actions',
    issuer: 'https://token.actions.githubusercontent.com',
    identifying: ['repository', 'repository_id', 'repository_owner', 'repository_owner_id', 'sub'],
  },
  gitlab: {
    title: 'GitLab CI',
    issuer: 'https://gitlab.com',
    identifying: ['project_path', 'project_id', 'namespace_path', 'namespace_id', 'sub'],
  },
  buildkite: {
    title: 'Buildkite',
    issuer: 'https://agent.buildkite.com',
    identifying: ['organization_slug', 'organization_id', 'pipeline_id', 'sub'],
  },
}
