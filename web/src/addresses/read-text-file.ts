/** Max file size in bytes: a list of 50,000 people has about 3 MB. */
const maxFileBytes = 8 * 1024 * 1024

/**
 * Decodes a text file. Spreadsheet programs write UTF-8, UTF-16 with a byte order mark, or a Windows code page;
 * addresses are ASCII, so a name in the wrong code page does no harm.
 * @returns undefined when it is too large, or no text
 */
export async function readTextFile(file: Blob): Promise<string | undefined> {
  if (file.size > maxFileBytes) return undefined
  const bytes = new Uint8Array(await file.arrayBuffer())
  const text = new TextDecoder(encodingOf(bytes)).decode(bytes)
  return text.includes('\0') ? undefined : text
}

function encodingOf([first, second]: Uint8Array): string {
  if (first === 0xff && second === 0xfe) return 'utf-16le'
  return first === 0xfe && second === 0xff ? 'utf-16be' : 'utf-8'
}
