import { createHash } from 'node:crypto'

/** What the hash of an entry covers: every stored field, as it is stored. */
export interface ChainedLine {
  /** 1, 2, 3... without a gap, unlike an id, which a failed transaction uses up. */
  readonly position: number
  readonly at: number
  readonly actor_id: number | null
  readonly actor_email: string
  readonly action: string
  readonly target: string
  /** JSON text, byte by byte: parsed and printed again it could differ. */
  readonly detail: string
}

/** Head of the hash chain: number of entries, and hash of the last one. */
export interface AuditHead {
  readonly entries: number
  readonly hash: string
}

/** The head of an empty log. */
export const noEntries: AuditHead = { entries: 0, hash: '0'.repeat(64) }

/**
 * SHA-256 over the hash of the entry before and this entry, in hexadecimal (hash chain). A JSON array has one reading
 * only, so no two entries have the same text; because the hash before is part of it, an entry cannot be changed without
 * changing all later ones: the log is tamper-evident.
 */
export function hashLine(before: string, line: ChainedLine): string {
  const { position, at, actor_id, actor_email, action, target, detail } = line
  const canonical = JSON.stringify([position, at, actor_id, actor_email, action, target, detail])
  return createHash('sha256').update(`${before}\n${canonical}`).digest('hex')
}

/** The head after this entry. */
export const headAfter = (head: AuditHead, line: ChainedLine): AuditHead => ({
  entries: line.position,
  hash: hashLine(head.hash, line),
})

/** Text as stored in `installation`. */
export const headToText = ({ entries, hash }: AuditHead): string => JSON.stringify({ entries, hash })

/** A missing or unreadable head counts as that of an empty log; verification then reports every entry as inserted. */
export function headFromText(text: string | undefined): AuditHead {
  try {
    const { entries, hash } = Object(JSON.parse(text ?? 'null')) as { entries?: unknown; hash?: unknown }
    if (Number.isSafeInteger(entries) && typeof hash === 'string') return { entries: Number(entries), hash }
  } catch {
    // Not written by Berth.
  }
  return noEntries
}

/** Its name in `installation`. */
export const headName = 'audit head'
