import { Problem, listenAddress, type ListenAddress } from './setting-values.ts'
import type { SettingName } from './setting-descriptions.ts'

/** This node, as one of several. */
export interface NodeConfig {
  /** Where the other nodes reach it. */
  readonly address: ListenAddress
  /** Null: the keys in the database are not encrypted; a warning says so at the start. */
  readonly secret: string | null
}

const minSecretLength = 32

/**
 * `NODE_ADDRESS`, and what several nodes need.
 * @param problems gets a sentence for each problem, without values @returns null for a single node
 */
export function readNode(text: (name: SettingName) => string | null, problems: string[]): NodeConfig | null {
  const [given, secret] = [text('NODE_ADDRESS'), text('NODE_SECRET')]
  if (given === null) return null
  const address = listenAddress(given)
  const needs: [boolean, string][] = [
    [!(address instanceof Problem), `must be host:port, e.g. 10.0.0.5:7070`],
    [
      /^postgres(ql)?:/.test(text('DATABASE_URL') ?? ''),
      'several nodes need PostgreSQL: set DATABASE_URL=postgres://...',
    ],
    [
      secret === null || secret.length >= minSecretLength,
      `set NODE_SECRET to at least ${minSecretLength} characters, the same on all nodes, e.g. from: openssl rand -base64 32`,
    ],
  ]
  problems.push(...needs.filter(([isMet]) => !isMet).map(([, words]) => `NODE_ADDRESS: ${words}`))
  return address instanceof Problem ? null : { address, secret }
}
