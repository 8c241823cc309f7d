/**
 * How much a level rises per hour: the straight line through the lowest point of each tenth of the time, because
 * memory that garbage collection has not yet looked at says nothing.
 *
 * @param points of minutes and level, in order.
 */
export function slopePerHour(points: readonly (readonly [minute: number, level: number])[]): number {
  const first = points[0]?.[0] ?? 0;
  const span = ((points.at(-1)?.[0] ?? 0) - first) / 10 || 1;
  const tenths = Map.groupBy([...points], ([minute]) => Math.min(9, Math.floor((minute - first) / span)));
  const lows = [...tenths.values()].map((tenth) =>
    tenth.reduce((low, point) => (point[1] < low[1] ? point : low)),
  );
  const mean = (of: (point: readonly [number, number]) => number) =>
    lows.reduce((sum, point) => sum + of(point), 0) / lows.length;
  const x = mean(([minute]) => minute);
  const y = mean(([, level]) => level);
  const above = mean(([minute, level]) => (minute - x) * (level - y));
  const below = mean(([minute]) => (minute - x) ** 2);
  return below === 0 ? 0 : (above / below) * 60;
}
