import { useEffect, useState } from 'react'
import uPlot from 'uplot'
import { dataOf, optionsOf, type Drawing } from './options.ts'
import { usePalette } from './palette.ts'

interface PlotCanvasProps {
  drawing: Drawing
  onCursor(index: number | null): void
}

/**
 * The canvas of a plot; assistive technology reads the text and the table beside it instead. It is drawn again when its
 * values, the language or the colours of the page change: some hundred points take a few milliseconds. uPlot sets
 * styles by script, property by property, which the content security policy allows.
 */
export function PlotCanvas({ drawing, onCursor }: PlotCanvasProps) {
  const [box, setBox] = useState<HTMLDivElement | null>(null)
  const palette = usePalette()
  const colours = JSON.stringify(palette)

  useEffect(() => {
    if (!box) return undefined
    const size = () => ({ width: Math.max(120, box.clientWidth), height: box.clientHeight })
    // Font and size of the page, including the reader's zoom of text.
    const { fontSize, fontFamily } = getComputedStyle(box)
    const font = { fontSize: Number.parseFloat(fontSize), fontFamily }
    const colour = JSON.parse(colours) as typeof palette
    const plot = new uPlot(optionsOf(drawing, colour, { ...size(), ...font }, onCursor), dataOf(drawing), box)
    const observer = new ResizeObserver(() => plot.setSize(size()))
    observer.observe(box)
    return () => {
      observer.disconnect()
      plot.destroy()
    }
  }, [box, drawing, colours, onCursor])

  return <div className="plot-canvas" aria-hidden="true" ref={setBox} />
}
