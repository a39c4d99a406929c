import { isRecord } from '../templates/values/field-values.ts'

/** File in the home that keeps the record. */
export const recordFile = '.berth-files.json'
/** Max bytes of a record; a larger one counts as none. */
export const maxRecord = 16 * 1024 * 1024
const maxPaths = 50_000

/** What Berth put into a home. Its owner can change it: then files that are not in it count as the owner's own. */
export interface PutRecord {
  /** Origins and folders whose files were put there. */
  readonly put: ReadonlySet<string>
  /** Hash of each file as it was put there, by path in the home. */
  readonly hashes: ReadonlyMap<string, string>
  /** Files that were being put there when it was written: what is there now may be a part. */
  readonly unfinished: ReadonlySet<string>
}

const emptyRecord: PutRecord = { put: new Set(), hashes: new Map(), unfinished: new Set() }

export function writeRecord({ put, hashes, unfinished }: PutRecord): Buffer {
  const files = Object.fromEntries([...hashes].slice(-maxPaths))
  return Buffer.from(JSON.stringify({ put: [...put], unfinished: [...unfinished], files }))
}

/** An empty record for what is none. */
export function readRecord(text: string): PutRecord {
  const value = parsed(text)
  if (!isRecord(value)) return emptyRecord
  const files = isRecord(value.files) ? Object.entries(value.files) : []
  return {
    put: new Set(texts(value.put)),
    unfinished: new Set(texts(value.unfinished)),
    hashes: new Map(files.flatMap(([path, hash]) => (typeof hash === 'string' ? [[path, hash]] : []))),
  }
}

const texts = (value: unknown) =>
  Array.isArray(value) ? value.filter((each): each is string => typeof each === 'string') : []

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
