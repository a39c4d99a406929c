/** One message, as some parser has read it. */
export interface Reading {
  /** `GET /x 1.1` of a request, `200 OK` of an answer. */
  readonly first: string
  /** `name: value`, names in lower case. */
  readonly lines: readonly string[]
  readonly body: string
  readonly trailers: readonly string[]
  readonly isComplete: boolean
}

/** What a parser made of a stream of bytes: messages, and why it stopped. */
export interface StreamReading {
  readonly messages: readonly Reading[]
  /** `refused`: the bytes are no valid message; `open`: more bytes would be read; `switched`: what follows is another protocol. */
  readonly end: 'refused' | 'open' | 'closed' | 'switched'
  /** What was said to be wrong. */
  readonly why?: string
}

/** Header lines from Node's flat list, names in lower case. */
export function linesOf(rawHeaders: readonly string[]): string[] {
  const lines: string[] = []
  for (let index = 0; index + 1 < rawHeaders.length; index += 2)
    lines.push(`${rawHeaders[index]?.toLowerCase()}: ${rawHeaders[index + 1]}`)
  return lines
}

/**
 * The first thing that one parser accepted and the other one read otherwise, in words; undefined when there is none.
 * @param ours may stop earlier: stricter is allowed, different is not
 */
export function difference(ours: StreamReading, nodes: StreamReading): string | undefined {
  for (const [index, our] of ours.messages.entries()) {
    const node = nodes.messages[index]
    if (node === undefined) return `message ${index} accepted, Node: ${nodes.end} ${nodes.why ?? ''}`
    for (const part of ['first', 'lines'] as const)
      if (String(our[part]) !== String(node[part]))
        return `message ${index}, ${part}: ${show(our[part])}, Node: ${show(node[part])}`
    if (!our.isComplete) continue
    if (!node.isComplete) return `message ${index} is complete, Node: ${nodes.end} ${nodes.why ?? ''}`
    for (const part of ['body', 'trailers'] as const)
      if (String(our[part]) !== String(node[part]))
        return `message ${index}, ${part}: ${show(our[part])}, Node: ${show(node[part])}`
  }
  return undefined
}

const show = (value: unknown) => JSON.stringify(value)
