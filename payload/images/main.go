// slipway-images makes the images of a release, and the release image that names them, as one OCI image layout.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"
)

const usage = `usage: slipway-images build --components FILE --crds FILE --inputs DIR... --output DIR --version VERSION [--version-of NAME=VERSION]...

  --components  the table of layers and images (images/components.yaml)
  --crds        the list of CRDs that the release image carries (images/crds.txt)
  --inputs      where the files that the table and the list name are looked up; may be given more than once
  --output      the OCI image layout to make or to bring up to date; beside it, DIR.layers.json remembers what was compressed
  --version     version of the release
  --version-of  version of something inside it, for the rows that name it under "versions"; may be given more than once
`

// problems collects errors, so that a run reports all of them.
type problems []error

func (p *problems) add(format string, args ...any) { *p = append(*p, fmt.Errorf(format, args...)) }
func (p problems) err() error                      { return errors.Join(p...) }

func parseOptions(args []string) (Options, error) {
	options := Options{Versions: map[string]string{}}
	flags := flag.NewFlagSet("build", flag.ContinueOnError)
	flags.Usage = func() {}
	flags.SetOutput(new(strings.Builder)) // the error is returned, and printed once
	flags.StringVar(&options.Components, "components", "", "")
	flags.StringVar(&options.CRDs, "crds", "", "")
	flags.StringVar(&options.Output, "output", "", "")
	flags.StringVar(&options.Version, "version", "", "")
	flags.Func("inputs", "", func(dir string) error { options.Inputs = append(options.Inputs, dir); return nil })
	flags.Func("version-of", "", func(text string) error {
		name, version, ok := strings.Cut(text, "=")
		if !ok || name == "" || version == "" {
			return errors.New("must be NAME=VERSION")
		}
		options.Versions[name] = version
		return nil
	})
	if err := flags.Parse(args); err != nil {
		return options, err
	}
	if flags.NArg() > 0 {
		return options, fmt.Errorf("unexpected argument %q", flags.Arg(0))
	}
	for _, required := range []struct {
		name  string
		given bool
	}{{"components", options.Components != ""}, {"crds", options.CRDs != ""}, {"inputs", options.Inputs != nil},
		{"output", options.Output != ""}, {"version", options.Version != ""}} {
		if !required.given {
			return options, fmt.Errorf("--%s is missing", required.name)
		}
	}
	return options, nil
}

func main() {
	if len(os.Args) < 2 || os.Args[1] != "build" {
		fmt.Fprint(os.Stderr, usage)
		os.Exit(2)
	}
	options, err := parseOptions(os.Args[2:])
	if err != nil {
		fmt.Fprintf(os.Stderr, "slipway-images: %v\n\n%s", err, usage)
		os.Exit(2)
	}
	say := func(format string, args ...any) { fmt.Printf(format+"\n", args...) }
	if err := Build(options, say); err != nil {
		fmt.Fprintf(os.Stderr, "slipway-images: making release %s:\n  %s\n", options.Version, strings.ReplaceAll(err.Error(), "\n", "\n  "))
		os.Exit(1)
	}
}
