import { toVisibleText } from '@skillstead/protocol'
import { UsageError } from '../command/command.ts'
import { readVariable, type Io } from '../terminal/io.ts'
import { requestJson } from './request-json.ts'

interface Node {
  readonly baseUrl: string
  readonly apiKey?: string
}

/**
 * Adds an API key to a node without a key: the key for which the node exchanges the token of the CI job, if there is a
 * token of GitHub Actions or in SKILLSTEAD_ID_TOKEN. `owner`: the owner that the job publishes for. Throws if the
 * exchange fails, and {@link UsageError} without an owner.
 */
export async function withCiKey(io: Pick<Io, 'env' | 'stderr'>, node: Node, owner: string | null): Promise<Node> {
  if (node.apiKey !== undefined) return node
  const address = node.baseUrl.replace(/\/+$/, '')
  const token = await findToken(io.env, address)
  if (token === undefined) return node
  if (owner === null)
    throw new UsageError(
      'The owner of the skills that this CI job publishes is missing. Pass --organisation NAME, or --owner NAME for a user.',
    )
  const apiKey = await exchange(address, token, owner)
  io.stderr.write('Publishing with the identity of this CI job.\n')
  return { ...node, apiKey }
}

/** Whether {@link withCiKey} finds a token. */
export function isCiJob(env: Io['env']): boolean {
  return ['SKILLSTEAD_ID_TOKEN', 'ACTIONS_ID_TOKEN_REQUEST_URL'].some((name) => readVariable(env, name) !== undefined)
}

async function findToken(env: Io['env'], audience: string): Promise<string | undefined> {
  const given = readVariable(env, 'SKILLSTEAD_ID_TOKEN')
  if (given !== undefined) return given
  const [request, secret] = ['URL', 'TOKEN'].map((part) => readVariable(env, `ACTIONS_ID_TOKEN_REQUEST_${part}`))
  if (request === undefined || secret === undefined) return undefined
  const url = new URL(request)
  url.searchParams.set('audience', audience)
  const { status, body } = await requestJson(url, { headers: { authorization: `Bearer ${secret}` } })
  if (typeof body['value'] === 'string') return body['value']
  throw new Error(`GitHub gave no token for this job (status ${status}). Give the job the permission id-token: write.`)
}

async function exchange(address: string, token: string, owner: string): Promise<string> {
  const form = new URLSearchParams({
    grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
    subject_token_type: 'urn:ietf:params:oauth:token-type:jwt',
    subject_token: token,
    resource: `${address}/${owner}`,
  })
  const { status, body } = await requestJson(new URL(`${address}/token/exchange`), { method: 'POST', body: form })
  if (typeof body['access_token'] === 'string') return body['access_token']
  const reason = body['error_description'] ?? body['detail'] ?? `status ${status}`
  throw new Error(
    `${address} does not accept the token of this CI job: ${toVisibleText(String(reason)).slice(0, 1000)}`,
  )
}
