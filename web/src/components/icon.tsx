interface IconProps {
  /** A path of the set, see `icons/`. */
  path: string
  /** Width and height in px. */
  size?: number
}

/** A sign of the set, in the colour of the text beside it. It only repeats words, so screen readers pass over it. */
export function Icon({ path, size = 20 }: IconProps) {
  return (
    <svg
      className="icon"
      aria-hidden
      width={size}
      height={size}
      viewBox="0 0 24 24"
      fill="none"
      stroke="currentcolor"
      strokeWidth="1.75"
      strokeLinecap="round"
      strokeLinejoin="round"
    >
      <path d={path} />
    </svg>
  )
}
