/** Documents of a stream that has one on each line; a line may come in pieces. @throws what the stream throws, or on a line that is no JSON */
export async function* jsonLines<T>(stream: AsyncIterable<Uint8Array>): AsyncGenerator<T> {
  const decoder = new TextDecoder()
  let rest = ''
  for await (const chunk of stream) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) if (line.trim() !== '') yield JSON.parse(line) as T
  }
}
