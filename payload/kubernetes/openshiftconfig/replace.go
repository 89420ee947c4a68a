package openshiftconfig

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
)

const flagText = "--openshift-config"

// Replace puts upstream flags in the place of --openshift-config, if it is there.
//
//	program    name of the program that will get the result
//	arguments  without the program's name
//	known      asked only when the flag is there; finding it out is not cheap
//	warnings   one line for each thing that was dropped
//	returns    arguments unchanged without the flag. The document's files go to a new private directory that lives as long as
//	           the program may read it, that is, for good; a container's own /tmp ends with the container.
//	errors     the document or the directory cannot be read or written, or the document is malformed
func Replace(program string, arguments []string, known func() Known, warnings io.Writer) ([]string, error) {
	path, rest, err := takeFlag(arguments)
	if err != nil || path == "" {
		return arguments, err
	}
	document, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", flagText, err)
	}
	directory, err := os.MkdirTemp("", program+"-")
	if err != nil {
		return nil, fmt.Errorf("making a directory for files of %s: %w", path, err)
	}
	result, err := Translate(Input{
		Program: program, Path: path, Document: document, Arguments: rest, Directory: directory,
		Known: known(), ListDirectory: listDirectory,
	})
	if err == nil {
		for _, warning := range result.Warnings {
			fmt.Fprintf(warnings, "%s: %s: %s\n", program, path, warning)
		}
		err = writeFiles(directory, result.Files)
	}
	if err != nil || len(result.Files) == 0 {
		os.RemoveAll(directory)
	}
	return result.Arguments, err
}

// takeFlag cuts --openshift-config=FILE or --openshift-config FILE out of the arguments. The path is empty without it.
func takeFlag(arguments []string) (path string, rest []string, err error) {
	for i := 0; i < len(arguments); i++ {
		name, value, hasValue := flagName(arguments[i])
		if "--"+name != flagText {
			rest = append(rest, arguments[i])
			continue
		}
		if !hasValue && i+1 < len(arguments) {
			i++
			value = arguments[i]
		}
		if value == "" {
			return "", nil, fmt.Errorf("%s needs the path of a configuration document", flagText)
		}
		if path != "" {
			return "", nil, fmt.Errorf("%s is given twice; give it once", flagText)
		}
		path = value
	}
	return path, rest, nil
}

func writeFiles(directory string, files []File) error {
	for _, file := range files {
		if err := os.WriteFile(filepath.Join(directory, file.Name), file.Content, 0o600); err != nil {
			return err
		}
	}
	return nil
}

func listDirectory(path string) (names []string, isDirectory bool, err error) {
	info, err := os.Stat(path)
	if err != nil || !info.IsDir() {
		return nil, false, err
	}
	entries, err := os.ReadDir(path)
	for _, entry := range entries {
		names = append(names, entry.Name())
	}
	return names, true, err
}
