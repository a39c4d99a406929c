/** A program in a container that accepts connections of TCP. */
export interface ListeningProgram {
  readonly port: number
  /** Whether it is reached from inside of the container alone. */
  readonly isLoopback: boolean
}

/** Where Docker's own server of names listens in containers: no program of the container's. */
const dockerDns = '127.0.0.11'

/**
 * What listens, from lines `PORT ADDRESS`; of a port with several addresses one that is open to others decides.
 * @returns sorted by port, each once
 */
export function listeningIn(lines: string): ListeningProgram[] {
  const found = new Map<number, boolean>()
  for (const line of lines.split('\n')) {
    const [, digits, address = ''] = /^(\d{1,5}) ([\da-f.:]+)$/.exec(line.trim()) ?? []
    if (digits === undefined || address === dockerDns) continue
    const port = Number(digits)
    found.set(port, (found.get(port) ?? true) && isLoopback(address))
  }
  return [...found].map(([port, isLoopback]) => ({ port, isLoopback })).toSorted((a, b) => a.port - b.port)
}

/** Also as IPv6 writes an address of IPv4. */
const isLoopback = (address: string) => address === '::1' || /^(?:::ffff:)?127\./.test(address)

/** State of a socket that listens, and its columns, in the kernel's tables. Source: proc(5), `/proc/net/tcp`. */
const tableLine = /^\s*\d+: ([\dA-F]{8}|[\dA-F]{32}):([\dA-F]{4}) [\dA-F]+:[\dA-F]{4} 0A /

/** Lines `PORT ADDRESS` from the kernel's tables, which hold addresses in words of a little-endian machine. */
export function linesOfTables(tables: string): string {
  const lines = tables.split('\n').flatMap((line) => {
    const [, address = '', port = ''] = tableLine.exec(line) ?? []
    return port === '' ? [] : [`${Number.parseInt(port, 16)} ${addressOf(address)}`]
  })
  return lines.join('\n')
}

function addressOf(hex: string): string {
  const words = hex.match(/.{8}/g) ?? []
  const bytes = words.flatMap((word) => [...Buffer.from(word, 'hex')].toReversed())
  if (bytes.length === 4) return bytes.join('.')
  const text = Buffer.from(bytes).toString('hex')
  if (/^0{31}1$/.test(text)) return '::1'
  return /^0{20}ffff/.test(text) ? `::ffff:${bytes.slice(12).join('.')}` : '::'
}
