/** As API servers write it; within a string its quotes would be escaped. */
const key = '"managedFields":['
const [quote, backslash, bracket, endOfBracket] = [0x22, 0x5c, 0x5b, 0x5d]

/**
 * The JSON of objects without the record of who set which field when, which is half of a pod, and which nothing here reads: to skip
 * it takes a quarter of the time that it takes to parse it, and leaves nothing behind in memory.
 * @param json of an API server; what is no JSON stays none
 */
export function withoutManagedFields(json: string): string {
  const parts: string[] = []
  let kept = 0
  for (let at = json.indexOf(key); at !== -1; at = json.indexOf(key, kept)) {
    const end = endOfArray(json, at + key.length - 1)
    if (end === -1) break
    parts.push(json.slice(kept, at), '"managedFields":null')
    kept = end
  }
  return kept === 0 ? json : parts.join('') + json.slice(kept)
}

/** @param begin of the array @returns where it has ended; -1 when it does not */
function endOfArray(json: string, begin: number): number {
  let depth = 0
  for (let at = begin; at < json.length; at++) {
    const char = json.charCodeAt(at)
    if (char === quote) {
      at = endOfString(json, at)
      if (at === -1) return -1
    } else if (char === bracket) depth++
    else if (char === endOfBracket && --depth === 0) return at + 1
  }
  return -1
}

/** @param begin where its first quote is @returns where its last one is; -1 when there is none */
function endOfString(json: string, begin: number): number {
  for (let at = json.indexOf('"', begin + 1); at !== -1; at = json.indexOf('"', at + 1)) {
    let before = at
    while (json.charCodeAt(before - 1) === backslash) before--
    if ((at - before) % 2 === 0) return at
  }
  return -1
}
