import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { isIPv4 } from 'node:net'
import type { TestContext } from 'node:test'

/**
 * A name server with TXT and A records, on a port of the loopback interface.
 * @param records by name; an IPv4 address is an A record; a name that ends like one of them exists without a record, others do not exist
 * @returns its address and port
 */
export async function startNameServer(t: TestContext, records: Record<string, readonly string[]>): Promise<string> {
  const socket = createSocket('udp4')
  socket.on('message', (query, { port, address }) => socket.send(answerTo(query, records), port, address))
  socket.bind(0, '127.0.0.1')
  await once(socket, 'listening')
  t.after(() => void socket.close())
  return `127.0.0.1:${socket.address().port}`
}

/** RFC 1035, 4.1: header, the question as it came, and a record for each text. */
function answerTo(query: Buffer, records: Record<string, readonly string[]>): Buffer {
  const labels: string[] = []
  let at = 12
  for (; query[at]; at += (query[at] ?? 0) + 1) labels.push(query.toString('latin1', at + 1, at + 1 + (query[at] ?? 0)))
  const question = query.subarray(12, at + 5)
  const name = labels.join('.').toLowerCase()
  const isForAddress = query.readUInt16BE(at + 1) === 1
  const texts = (records[name] ?? []).filter((each) => isIPv4(each) === isForAddress)
  const isKnown = Object.keys(records).some((each) => each === name || each.endsWith(`.${name}`))
  const header = Buffer.from(query.subarray(0, 12))
  header.writeUInt16BE(texts.length > 0 || isKnown ? 0x8180 : 0x8183, 2)
  header.writeUInt16BE(texts.length, 6)
  header.writeUInt16BE(0, 8)
  header.writeUInt16BE(0, 10)
  return Buffer.concat([header, question, ...texts.map(recordOf)])
}

function recordOf(text: string): Buffer {
  const head = Buffer.from([0xc0, 12, 0, isIPv4(text) ? 1 : 16, 0, 1, 0, 0, 0, 60])
  const data = isIPv4(text)
    ? Buffer.from(text.split('.').map(Number))
    : Buffer.concat([Buffer.from([text.length]), Buffer.from(text)])
  const length = Buffer.alloc(2)
  length.writeUInt16BE(data.length)
  return Buffer.concat([head, length, data])
}
