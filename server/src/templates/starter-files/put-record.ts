import { isRecord } from '#/templates/field-values.ts'

/** File in the home that keeps the record. */
export const recordFile = '.berth-files.json'
/** Max files of a record, twice as many as one set may have. With more, files that were put there first count as their owner's. */
const maxFiles = 20_000
/** Max bytes of a record: a hash for each file, and its path twice while it is being put there; a larger one counts as none. */
export const maxRecord = maxFiles * (64 + 2 * 70)
/** Max values in the JSON of a record, with some for origins. With more of them the parser holds up all requests for seconds. */
const maxValues = 2 * maxFiles + 2_000

/** What Berth put into a home. Its owner can change it: then files that are not in it count as the owner's own. */
export interface PutRecord {
  /** Origins and folders whose files were put there. */
  readonly put: ReadonlySet<string>
  /** Hash of each file as it was put there, by path in the home. */
  readonly hashes: ReadonlyMap<string, string>
  /** Files that were being put there when it was written: what is there now may be a part. */
  readonly unfinished: ReadonlySet<string>
}

export const emptyRecord: PutRecord = { put: new Set(), hashes: new Map(), unfinished: new Set() }

/** Without the files that were put there first where they are too many. */
export function writeRecord({ put, hashes, unfinished }: PutRecord): Buffer {
  const begun = { put: [...put], unfinished: [...unfinished].slice(0, maxFiles) }
  const last: (readonly [string, string])[] = []
  let room = maxRecord - jsonBytes({ ...begun, files: {} })
  for (const entry of [...hashes].slice(-maxFiles).toReversed()) {
    room -= jsonBytes(entry)
    if (room < 0) break
    last.push(entry)
  }
  return Buffer.from(JSON.stringify({ ...begun, files: Object.fromEntries(last.toReversed()) }))
}

const jsonBytes = (value: unknown) => Buffer.byteLength(JSON.stringify(value))

/** Whether a parser is quick with it, whatever it is: outside of texts each value but one has a comma or a bracket before it. */
function isBounded(text: string): boolean {
  if (Buffer.byteLength(text) > maxRecord) return false
  let [values, isInText] = [1, false]
  for (let at = 0; at < text.length && values <= maxValues; at++) {
    const character = text[at]
    if (character === '"') isInText = !isInText
    else if (isInText) at += character === '\\' ? 1 : 0
    else if (character === ',' || character === '[' || character === '{') values++
  }
  return values <= maxValues
}

/** An empty record for what is none, or is larger than Berth writes them: a user can replace it. */
export function readRecord(text: string): PutRecord {
  const value = isBounded(text) ? parsed(text) : undefined
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
