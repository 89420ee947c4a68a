// Package first is initialised before everything that it does not import: Go takes the packages in the order of their import paths,
// each as soon as what it imports is ready, and no path of Kubernetes sorts before this one's. So what it does counts while
// Kubernetes' packages are initialised, which every program of hyperkube pays for: 105 ms of CPU before this one and english.
package first

import "runtime/debug"

// Initialising makes 15 MB of garbage and keeps 10; the collector would run three times in the 60 ms that it takes.
var percentage = debug.SetGCPercent(-1)

// CollectAgain ends the time without a collector; to be called from main.
func CollectAgain() { debug.SetGCPercent(percentage) }
