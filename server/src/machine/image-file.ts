import { createHash } from 'node:crypto'
import { readFileSync, statSync } from 'node:fs'

/** An image of the operator's that was checked. It is served as an image alone: see `imageAsset` in `http/front-end/`. */
export interface ImageFile {
  readonly bytes: Buffer
  readonly mediaType: 'image/svg+xml' | 'image/png'
  /** Name of the file below `/assets/`; it changes with the contents. */
  readonly fileName: string
}

/** Sides of a PNG in pixels. */
const [minSide, maxSide] = [16, 2_048]

const pngSignature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])

/**
 * Reads and checks an image by its contents, whatever the name of the file says.
 * @param name what the image is, with which its name below `/assets/` begins
 * @returns the image, or the end of a sentence that begins with the name of the field
 */
export function readImageFile(
  file: string,
  { name, maxBytes }: { readonly name: string; readonly maxBytes: number },
): { readonly value: ImageFile } | { readonly problem: string } {
  let bytes: Buffer
  try {
    const { size } = statSync(file)
    if (size > maxBytes) return { problem: `${file} has ${size} bytes; at most ${maxBytes} are allowed` }
    bytes = readFileSync(file)
  } catch (error) {
    return { problem: `cannot be read: ${(error as Error).message}` }
  }
  const isPng = bytes.subarray(0, pngSignature.length).equals(pngSignature)
  const problem = isPng ? problemOfPng(bytes) : problemOfSvg(bytes)
  if (problem !== undefined) return { problem: `${file} ${problem}` }
  const hash = createHash('sha256').update(bytes).digest('base64url').slice(0, 12)
  const [mediaType, ending] = isPng ? (['image/png', 'png'] as const) : (['image/svg+xml', 'svg'] as const)
  return { value: { bytes, mediaType, fileName: `${name}-${hash}.${ending}` } }
}

/** W3C PNG, 5.3 and 11.2.2: the first chunk is IHDR with the sides, the last one IEND. */
function problemOfPng(bytes: Buffer): string | undefined {
  if (bytes.length < 45 || bytes.toString('latin1', 12, 16) !== 'IHDR' || !bytes.includes('IEND', bytes.length - 12))
    return 'is not a complete PNG image'
  const [width, height] = [bytes.readUInt32BE(16), bytes.readUInt32BE(20)]
  const isRight = [width, height].every((side) => side >= minSide && side <= maxSide)
  return isRight ? undefined : `has ${width} x ${height} pixels; each side must have ${minSide} to ${maxSide}`
}

/** What an SVG image needs for no drawing, and what could run or load something if it were opened as a document. */
const forbiddenInSvg: readonly (readonly [pattern: RegExp, words: string])[] = [
  [/<!doctype|<!entity/i, 'declares a document type or entities'],
  [/<\?xml-stylesheet/i, 'loads a style sheet'],
  [
    /<(?:[\w-]+:)?(?:script|foreignobject|iframe|embed|object|handler|listener|a|animate\w*|set)[\s/>]/i,
    'has an element that can run, load or link something',
  ],
  [/\son\w+\s*=/i, 'has an event handler'],
  [/(?:javascript|vbscript)\s*:/i, 'has a script in an address'],
  [/\bhref\s*=\s*(?!\s|["']\s*(?:#|data:image\/(?:png|jpeg);))/i, 'refers to another file'],
  [/@import|url\(\s*(?!\s|["']?\s*#)/i, 'loads something by its styles'],
  [/\\/, 'has escapes of styles, which can hide an address'],
  [/<\?xml\s[^>]*encoding\s*=\s*["'](?!utf-8["'])/i, 'says that it is not in UTF-8'],
  [/&#/, 'has character references, which can hide a script'],
]

function problemOfSvg(bytes: Buffer): string | undefined {
  let text: string
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    return 'is neither a PNG image nor an SVG image in UTF-8'
  }
  const start = text.replace(/^\uFEFF?\s*(?:<\?xml\s[^>]*\?>)?\s*(?:<!--[^]*?-->\s*)*/, '')
  if (!/^<svg[\s>]/.test(start) || !/<\/svg>\s*$/.test(start)) return 'is neither a PNG image nor an SVG image'
  if (!/xmlns\s*=\s*["']http:\/\/www\.w3\.org\/2000\/svg["']/.test(start))
    return 'lacks xmlns="http://www.w3.org/2000/svg", without which browsers do not draw it'
  const found = forbiddenInSvg.find(([pattern]) => pattern.test(text))
  return found && `${found[1]}; save it as a plain SVG image without that, or as a PNG image`
}
