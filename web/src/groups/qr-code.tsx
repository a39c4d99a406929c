import encodeQR from 'qr'
import { pathOf } from './qr-path.ts'

/** Light modules around the code, which readers need. Source: ISO/IEC 18004, quiet zone. */
const quietZone = 4

/** A QR code as one path, drawn by this page alone: dark on light in both colour schemes, because readers expect it. */
export function QrCode({ text, label }: { text: string; label: string }) {
  const rows = encodeQR(text, 'raw', { ecc: 'medium', border: quietZone })
  const size = rows.length
  return (
    <svg className="qr-code" role="img" aria-label={label} viewBox={`0 0 ${size} ${size}`} shapeRendering="crispEdges">
      <rect width={size} height={size} fill="#fff" />
      <path d={pathOf(rows)} fill="#000" />
    </svg>
  )
}
