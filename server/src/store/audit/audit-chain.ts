import { createHash } from 'node:crypto'

/** What the hash of a line covers: everything that is stored of it, as it is stored. */
export interface ChainedLine {
  /** 1, 2, 3... without a gap, unlike an id, which a transaction that failed takes along. */
  readonly position: number
  readonly at: number
  readonly actor_id: number | null
  readonly actor_email: string
  readonly action: string
  readonly target: string
  /** JSON text, to the letter: parsed and printed again it could look different. */
  readonly detail: string
}

/** Where the log ends: how many lines it has, and the hash of the last one. */
export interface AuditHead {
  readonly entries: number
  readonly hash: string
}

/** The head of an empty log. */
export const noEntries: AuditHead = { entries: 0, hash: '0'.repeat(64) }

/**
 * SHA-256 over the hash of the line before and this line, in hexadecimal. A JSON array has one reading only, so no two
 * lines look alike; with the line before in it, nobody can change one without changing all that follow.
 */
export function hashLine(before: string, line: ChainedLine): string {
  const { position, at, actor_id, actor_email, action, target, detail } = line
  const canonical = JSON.stringify([position, at, actor_id, actor_email, action, target, detail])
  return createHash('sha256').update(`${before}\n${canonical}`).digest('hex')
}

/** The head after this line. */
export const headAfter = (head: AuditHead, line: ChainedLine): AuditHead => ({
  entries: line.position,
  hash: hashLine(head.hash, line),
})

/** As it is kept in `installation`. */
export const headToText = ({ entries, hash }: AuditHead): string => JSON.stringify({ entries, hash })

/** A head that is missing or cannot be read is that of an empty log; whatever lines there are are then too many. */
export function headFromText(text: string | undefined): AuditHead {
  try {
    const { entries, hash } = Object(JSON.parse(text ?? 'null')) as { entries?: unknown; hash?: unknown }
    if (Number.isSafeInteger(entries) && typeof hash === 'string') return { entries: Number(entries), hash }
  } catch {
    // Somebody else wrote it.
  }
  return noEntries
}

/** Its name in `installation`. */
export const headName = 'audit head'
